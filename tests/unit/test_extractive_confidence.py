from models.extractive.prompt_parser import ParsedPrompt
from models.extractive.writing import write_finding
from tests.cases import each_case
from text.answerability import SourcePassage

SURE = [
    ("When was the Ostrava kiln opened?", "The Ostrava kiln was opened in Brno in 1903."),
    ("When was Mila Horn born?", "Mila Horn (4 May 1911 – 2 July 1987) was a Dutch potter."),
    ("Who founded the Ostrava kiln?", "The Ostrava kiln was founded in 1903 by Mila Horn."),
    ("Who was Mila Horn?", "Mila Horn (born 1911) was a Dutch potter."),
    ("What is a saggar?", "A saggar is a box that shields pots in a kiln."),
    ("How many chambers does the Ostrava kiln have?", "The Ostrava kiln has 14 chambers."),
    ("欧斯特瓦窑建于哪一年？", "欧斯特瓦窑建于1903年，是当地最大的窑。"),
]
SURE += [
    ("What does the pug mill do?", "The pug mill removes air from clay."),
    ("Where was Mila Horn born?", "Mila Horn is a Dutch potter born on 4 May 1911 in Šibenik."),
]
SURE += [
    ("What are saggars and setters?", "Saggars and setters are two kinds of kiln furniture."),
    (
        "What is the default heat of the Ostrava kiln?",
        "The default heat of the Ostrava kiln is 900.",
    ),
    (
        "Where is the glaze book of Ostrava kept?",
        "The glaze book of Ostrava is kept in /srv/glaze.",
    ),
    ("When is the Ostrava kiln fired?", "The Ostrava kiln is fired whenever it is full of pots."),
    (
        "Why is the Ostrava kiln not fired?",
        "The Ostrava kiln is not fired, as it has only one door.",
    ),
]
UNSURE = [
    ("Who painted the Ostrava kiln?", "The Ostrava kiln was established in 1903 by Mila Horn."),
    ("Where was Mila Horn born?", "Mila Horn (born 4 May 1911) was a Dutch potter."),
    ("When was the Ostrava kiln opened?", "The Ostrava mill was opened in Brno in 1903."),
    ("What is a saggar?", "The potters broke a saggar when the kiln was opened."),
    ("What did Mila Horn die of?", "Mila Horn (4 May 1911 – 2 July 1987) was a Dutch potter."),
    ("Why was the Ostrava kiln closed?", "The Ostrava kiln was closed in 1950."),
    ("How tall is the Ostrava kiln?", "The Ostrava kiln is one of the oldest kilns in Brno."),
    ("Who is the wife of Mila Horn?", "Mila Horn is a famous Vietnamese American potter."),
    ("How many kilns did Mila Horn build?", "Mila Horn (4 May 1911 – 2 July 1987) built kilns."),
    ("What does the pug mill do?", "The pug mill may not be moved."),
    ("Who is the father of Mila Horn?", "Jan Novak was a potter and the son of Mila Horn."),
    ("Who is the wife of Jan Horn?", "Jan Horn was a son of Ota Horn and his wife Mila Novak."),
    ("What does the pug mill do?", "The pug mill is heavy."),
    ("What does the third lever mean?", "The third lever (lev_three)."),
    ("What does ZKO stand for?", "The letter K of ZKO kilns stands for the fuel."),
    ("Which option of glaze fires a kiln?", "The glaze command may fire a kiln at night."),
    ("How do I clean the pug mill?", "If you clean the pug mill often, clay sticks to the walls."),
    ("欧斯特瓦窑的高度是多少？", "欧斯特瓦窑建于1903年，是当地最大的窑。"),
]
UNSURE += [
    ("What does the pug mill do?", "pug mill: Invoking."),
    ("Which port does the Ostrava kiln use?", "The Ostrava kiln uses a port for its gas."),
    ("Which key starts the Ostrava kiln?", "The Ostrava kiln has keys that start its many parts."),
    ("Which command starts the Ostrava kiln?", "Some command starts the Ostrava kiln at night."),
    ("What is the default heat of the kiln?", "The default of the kiln depends on its heat."),
    ("Who set the Ostrava kiln up?", "Enable LSB names to set the Ostrava kiln up."),
    ("How many kilns does glazer have?", "The glazer.service(8) has kilns that it fires."),
    ("What is a saggar?", "By custom a named saggar is an object at the door of a kiln."),
    ("Which option of glaze shows a kiln?", "When no option is used, glaze shows a TCP/UDP kiln."),
    ("What does -q of the Ostrava kiln do?", "The Ostrava kiln does -k when it is cold."),
]


def lacking(asked, told):
    page = SourcePassage(
        "S1", "Notes on pottery", "", f"These are my notes. {told} They were made in May."
    )
    return write_finding(ParsedPrompt(question=asked, step=(asked, asked), pages=(page,))).unsure


@each_case(SURE)
def test_a_plain_answer_is_sure(asked, told):
    assert lacking(asked, told) is None


@each_case(UNSURE)
def test_what_is_near_a_question_and_no_answer_is_not_sure(asked, told):
    assert lacking(asked, told) is not None
