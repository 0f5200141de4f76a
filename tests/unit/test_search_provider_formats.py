"""Each provider is asked as its documentation says, and its answers become hits."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from config.errors import Problem
from tests.loopback import Answer, Asked, reply, serving
from tools.web.providers.provider import SearchHit, Topic
from tools.web.providers.provider_registry import DECLARATIONS, SEARCH_PROVIDERS
from tools.web.providers.query_words import topic_words

KEY = "c4n4ry-0123456789"
CONTACT = "ada@example.org"


def answer_of(value: object, *headers: str, status: str = "200 OK") -> bytes:
    return reply(json.dumps(value), *headers, mime="application/json", status=status)


class Exchange(NamedTuple):
    """What a provider found, and what it was asked."""

    hits: list[SearchHit]
    asked: list[Asked]

    def params(self, number: int = 0) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.asked[number].target).query))

    def path(self, number: int = 0) -> str:
        return urlsplit(self.asked[number].target).path


async def search(
    name: str,
    *answers: Answer,
    query: str = "waggle dance",
    limit: int = 5,
    topic: Topic = "general",
    key: str = "",
) -> Exchange:
    """Ask a provider that answers in this order, the last answer again and again."""
    left = list(answers)
    declared = DECLARATIONS[name]
    async with serving(lambda _: left.pop(0) if len(left) > 1 else left[0]) as server:
        environ = {declared.url_variable: server.url, "DOSSIER_CONTACT": CONTACT}
        if declared.key_variable and (key or declared.key_needed):
            environ[declared.key_variable] = key or KEY
        hits = await SEARCH_PROVIDERS[name](environ).search(query, limit, topic)
    return Exchange(hits, server.asked)


# Wikipedia: https://www.mediawiki.org/wiki/API:Search, with formatversion=2.
WIKIPEDIA = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {
                "pageid": 3113,
                "ns": 0,
                "title": "Bee learning and communication",
                "index": 2,
                "extract": "Bee learning is cognitive.",
                "fullurl": "https://en.wikipedia.org/wiki/Bee_learning_and_communication",
                "revisions": [{"timestamp": "2026-03-01T08:00:00Z"}],
            },
            {
                "pageid": 33190,
                "ns": 0,
                "title": "Waggle dance",
                "index": 1,
                "extract": "Waggle dance is a term used in beekeeping.\n\nIt was decoded in 1967.",
                "fullurl": "https://en.wikipedia.org/wiki/Waggle_dance",
                "revisions": [{"timestamp": "2026-10-02T11:12:13Z"}],
            },
        ]
    },
}


async def test_wikipedia_answers_with_introductions_in_the_order_of_its_search():
    found = await search("wikipedia", answer_of(WIKIPEDIA))

    assert found.path() == "/w/api.php"
    assert found.params() | {"gsrsearch": "waggle dance", "gsrlimit": "5"} == found.params()
    assert found.hits[0] == {
        "url": "https://en.wikipedia.org/wiki/Waggle_dance",
        "title": "Waggle dance",
        "snippet": "Waggle dance is a term used in beekeeping. It was decoded in 1967.",
        "date": "2026-10-02",
        "site": "Wikipedia",
        "kind": "encyclopedia",
        "text": "Waggle dance is a term used in beekeeping.\n\nIt was decoded in 1967.",
    }
    assert found.hits[1]["title"] == "Bee learning and communication"


@pytest.mark.parametrize(
    ("query", "language"),
    [("waggle dance", "en"), ("蜜蜂的摇摆舞", "zh"), ("ミツバチのダンス", "ja")],
)
async def test_wikipedia_is_asked_in_the_language_of_the_query(query, language):
    async with serving(lambda _: answer_of(WIKIPEDIA)) as server:
        environ = {"DOSSIER_WIKIPEDIA_URL": f"{server.url}/{{language}}"}
        await SEARCH_PROVIDERS["wikipedia"](environ).search(query, 5)

    assert server.asked[0].target.startswith(f"/{language}/w/api.php?")


async def test_a_word_that_no_article_has_finds_nothing_on_wikipedia():
    assert (await search("wikipedia", answer_of({"batchcomplete": True}))).hits == []


# arXiv: https://info.arxiv.org/help/api/user-manual.html.
ATOM = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="html">ArXiv Query: search_query=all:waggle</title>
  <id>http://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <updated>2026-11-26T00:00:00-05:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
    >{count}</opensearch:totalResults>
  {entries}
</feed>"""

ENTRY = """<entry>
    <id>http://arxiv.org/abs/2401.01234v2</id>
    <updated>2024-03-01T16:09:59Z</updated>
    <published>2024-01-02T10:02:02Z</published>
    <title>Decoding the Waggle Dance
  with Cameras</title>
    <summary>  We read dances of bees &lt; 2 m away.
  It works.
</summary>
    <author><name>Ada Lovelace</name></author>
    <author><name>Karl von Frisch</name></author>
    <arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.1529/Biophysj.104.047340</arxiv:doi>
    <link title="doi" href="http://dx.doi.org/10.1529/biophysj.104.047340" rel="related"/>
    <arxiv:journal_ref xmlns:arxiv="http://arxiv.org/schemas/atom"
    >J. Bees 31 (2024) 17-29</arxiv:journal_ref>
    <link href="http://arxiv.org/abs/2401.01234v2" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/2401.01234v2" rel="related"/>
    <category term="cs.CV" scheme="http://arxiv.org/schemas/atom"/>
  </entry>"""


def feed(*entries: str) -> bytes:
    text = ATOM.format(count=len(entries), entries="".join(entries))
    return reply(text, mime="application/atom+xml; charset=utf-8")


async def test_arxiv_answers_with_abstracts_and_where_the_whole_papers_stand():
    found = await search("arxiv", feed(ENTRY))

    assert found.path() == "/query"
    assert found.params()["search_query"] == "all:waggle AND all:dance"
    assert found.params()["max_results"] == "5"
    assert found.hits == [
        {
            "url": "https://arxiv.org/abs/2401.01234v2",
            "title": "Decoding the Waggle Dance with Cameras",
            "snippet": "We read dances of bees < 2 m away. It works.",
            "date": "2024-01-02",
            "authors": "Ada Lovelace; Karl von Frisch",
            "site": "J. Bees 31 (2024) 17-29",
            "doi": "10.1529/biophysj.104.047340",
            "kind": "paper",
            "alternatives": [
                "https://arxiv.org/html/2401.01234v2",
                "https://arxiv.org/pdf/2401.01234v2",
            ],
            "text": "We read dances of bees < 2 m away.\nIt works.",
        }
    ]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("What is a waggle dance?", "all:waggle AND all:dance"),
        ('a "b) OR ti:x', "all:b AND all:ti AND all:x"),
        ("one two three four five", "all:one OR all:two OR all:three OR all:four OR all:five"),
    ],
)
async def test_arxiv_is_asked_for_the_words_of_a_query_and_for_no_operators(query, wanted):
    assert (await search("arxiv", feed(), query=query)).params()["search_query"] == wanted


async def test_an_empty_feed_of_arxiv_has_found_nothing():
    assert (await search("arxiv", feed())).hits == []


# OpenAlex: https://developers.openalex.org/api-reference/works.
OPENALEX = {
    "meta": {"count": 1, "db_response_time_ms": 20, "page": 1, "per_page": 5},
    "results": [
        {
            "id": "https://openalex.org/W2741809807",
            "doi": "https://doi.org/10.7717/PEERJ.4375",
            "display_name": "The state of <i>OA</i>",
            "publication_date": "2018-02-13",
            "type": "article",
            "authorships": [
                {"author_position": "first", "author": {"display_name": "Heather Piwowar"}},
                {"author_position": "last", "author": {"display_name": "Jason Priem"}},
            ],
            "primary_location": {
                "landing_page_url": "https://doi.org/10.7717/peerj.4375",
                "pdf_url": None,
                "source": {"display_name": "PeerJ", "type": "journal"},
            },
            "best_oa_location": {
                "landing_page_url": "https://pmc.ncbi.nlm.nih.gov/articles/PMC5815332",
                "pdf_url": "https://peerj.com/articles/4375.pdf",
            },
            "abstract_inverted_index": {"Access": [1], "Open": [0], "is": [2, 4], "what": [3]},
        }
    ],
}


async def test_openalex_answers_with_abstracts_put_together_again():
    found = await search("openalex", answer_of(OPENALEX), key=KEY)

    assert found.path() == "/works"
    params = found.params()
    assert (params["search"], params["per_page"]) == ("waggle dance", "5")
    assert (params["mailto"], params["api_key"]) == (CONTACT, KEY)
    assert found.hits == [
        {
            "url": "https://doi.org/10.7717/peerj.4375",
            "title": "The state of OA",
            "snippet": "Open Access is what is",
            "date": "2018-02-13",
            "authors": "Heather Piwowar; Jason Priem",
            "site": "PeerJ",
            "doi": "10.7717/peerj.4375",
            "kind": "paper",
            "alternatives": [
                "https://pmc.ncbi.nlm.nih.gov/articles/PMC5815332",
                "https://peerj.com/articles/4375.pdf",
            ],
            "text": "Open Access is what is",
        }
    ]


# Semantic Scholar: https://api.semanticscholar.org/api-docs/graph.
SEMANTIC_SCHOLAR = {
    "total": 2,
    "offset": 0,
    "data": [
        {
            "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
            "externalIds": {"ArXiv": "1805.02262", "DOI": "10.18653/V1/N18-3011"},
            "url": "https://www.semanticscholar.org/paper/649def34f8be52c8b66281af98ae884c09aef38b",
            "title": "Construction of the Literature Graph",
            "abstract": "We describe a deployed scalable system.",
            "venue": "NAACL",
            "year": 2018,
            "publicationDate": "2018-05-06",
            "authors": [{"authorId": "1741101", "name": "Waleed Ammar"}],
            "openAccessPdf": {"url": "https://www.aclweb.org/anthology/N18-3011.pdf"},
            "tldr": {"model": "tldr@v2.0.0", "text": "A graph of papers."},
        },
        {
            "paperId": "b",
            "externalIds": {"CorpusId": 7},
            "url": "https://www.semanticscholar.org/paper/b",
            "title": "An older one",
            "abstract": None,
            "venue": "",
            "year": 1927,
            "publicationDate": None,
            "authors": [],
            "openAccessPdf": None,
            "tldr": {"model": "tldr@v2.0.0", "text": "Bees dance."},
        },
    ],
}


async def test_semantic_scholar_answers_with_abstracts_or_its_own_short_summaries():
    found = await search(
        "semantic_scholar", answer_of(SEMANTIC_SCHOLAR), query="open-access papers", key=KEY
    )

    assert found.path() == "/paper/search"
    assert found.params()["query"] == "open access papers"
    assert found.asked[0].headers["x-api-key"] == KEY
    assert found.hits == [
        {
            "url": "https://doi.org/10.18653/v1/n18-3011",
            "title": "Construction of the Literature Graph",
            "snippet": "We describe a deployed scalable system.",
            "date": "2018-05-06",
            "authors": "Waleed Ammar",
            "site": "NAACL",
            "doi": "10.18653/v1/n18-3011",
            "kind": "paper",
            "alternatives": [
                "https://arxiv.org/abs/1805.02262",
                "https://www.aclweb.org/anthology/N18-3011.pdf",
            ],
            "text": "We describe a deployed scalable system.",
        },
        {
            "url": "https://www.semanticscholar.org/paper/b",
            "title": "An older one",
            "snippet": "Bees dance.",
            "date": "1927",
            "kind": "paper",
        },
    ]


async def test_an_answer_of_semantic_scholar_without_data_has_found_nothing():
    found = await search("semantic_scholar", answer_of({"total": 0, "offset": 0}))

    assert found.hits == []
    assert "x-api-key" not in found.asked[0].headers


# Europe PMC: https://europepmc.org/RestfulWebService, with resultType=core.
EUROPE_PMC = {
    "version": "6.9",
    "hitCount": 2,
    "request": {"queryString": "waggle dance", "resultType": "core", "pageSize": 5},
    "resultList": {
        "result": [
            {
                "id": "34567890",
                "source": "MED",
                "pmid": "34567890",
                "pmcid": "PMC8500000",
                "doi": "10.1038/S41598-021-00001-1",
                "title": "Waggle dances under pesticides.",
                "authorString": "Lovelace A, von Frisch K.",
                "journalInfo": {"journal": {"title": "Scientific Reports", "issn": "2045-2322"}},
                "firstPublicationDate": "2021-10-05",
                "isOpenAccess": "Y",
                "abstractText": "<h4>Background</h4>Bees dance.<h4>Results</h4>Less so.",
                "fullTextUrlList": {
                    "fullTextUrl": [
                        {
                            "availability": "Open access",
                            "availabilityCode": "OA",
                            "documentStyle": "html",
                            "site": "Europe_PMC",
                            "url": "https://europepmc.org/articles/PMC8500000",
                        },
                        {
                            "availability": "Subscription required",
                            "availabilityCode": "S",
                            "documentStyle": "doi",
                            "site": "DOI",
                            "url": "https://doi.org/10.1038/s41598-021-00001-1",
                        },
                    ]
                },
            },
            {
                "id": "PPR400000",
                "source": "PPR",
                "title": "A preprint.",
                "authorString": "Bee B.",
                "isOpenAccess": "N",
                "pubYear": "2022",
            },
        ]
    },
}


async def test_europe_pmc_answers_with_abstracts_and_leads_to_whole_texts():
    found = await search("europe_pmc", answer_of(EUROPE_PMC))

    assert found.path() == "/search"
    params = found.params()
    assert (params["query"], params["format"]) == ("waggle dance", "json")
    assert (params["resultType"], params["pageSize"]) == ("core", "5")
    [paper, preprint] = found.hits
    assert paper["url"] == "https://pmc.ncbi.nlm.nih.gov/articles/PMC8500000/"
    assert paper["authors"] == "Lovelace A; von Frisch K"
    assert paper["site"] == "Scientific Reports"
    assert paper["date"] == "2021-10-05"
    assert paper["text"] == "Background\n\nBees dance.\n\nResults\n\nLess so."
    assert [urlsplit(one).path for one in paper["alternatives"]] == [
        "/PMC8500000/fullTextXML",
        "/10.1038/s41598-021-00001-1",
        "/34567890/",
    ]
    assert preprint == {
        "url": "https://europepmc.org/article/PPR/PPR400000",
        "title": "A preprint.",
        "snippet": "",
        "date": "2022",
        "authors": "Bee B",
        "kind": "paper",
    }


# PubMed: https://www.ncbi.nlm.nih.gov/books/NBK25499/.
ESEARCH = {
    "header": {"type": "esearch", "version": "0.3"},
    "esearchresult": {"count": "1", "retmax": "1", "retstart": "0", "idlist": ["34567890"]},
}

EFETCH = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN"
  "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet><PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="1">34567890</PMID>
    <Article PubModel="Electronic">
      <Journal>
        <JournalIssue CitedMedium="Internet">
          <PubDate><Year>2021</Year><Month>Oct</Month><Day>05</Day></PubDate>
        </JournalIssue>
        <Title>Scientific reports</Title>
      </Journal>
      <ArticleTitle>Dances of <i>Apis mellifera</i> in CO<sub>2</sub>.</ArticleTitle>
      <Abstract>
        <AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Bees <b>dance</b>.</AbstractText>
        <AbstractText Label="RESULTS" NlmCategory="RESULTS">Less so.</AbstractText>
      </Abstract>
      <AuthorList CompleteYN="Y">
        <Author ValidYN="Y"><LastName>Lovelace</LastName><ForeName>Ada</ForeName></Author>
        <Author ValidYN="Y"><CollectiveName>Bee Group</CollectiveName></Author>
      </AuthorList>
    </Article>
  </MedlineCitation>
  <PubmedData><ArticleIdList>
    <ArticleId IdType="pubmed">34567890</ArticleId>
    <ArticleId IdType="pmc">PMC8500000</ArticleId>
    <ArticleId IdType="doi">10.1038/s41598-021-00001-1</ArticleId>
  </ArticleIdList></PubmedData>
</PubmedArticle></PubmedArticleSet>"""


async def test_pubmed_is_asked_for_ids_and_then_for_their_records():
    found = await search("pubmed", answer_of(ESEARCH), reply(EFETCH, mime="text/xml"), key=KEY)

    assert [found.path(0), found.path(1)] == ["/esearch.fcgi", "/efetch.fcgi"]
    assert (found.params(0)["term"], found.params(0)["retmax"]) == ("waggle dance", "5")
    assert found.params(1)["id"] == "34567890"
    for number in (0, 1):
        sent = found.params(number)
        assert (sent["api_key"], sent["email"], sent["tool"]) == (KEY, CONTACT, "dossier")
    assert found.hits == [
        {
            "url": "https://pubmed.ncbi.nlm.nih.gov/34567890/",
            "title": "Dances of Apis mellifera in CO2.",
            "snippet": "Background: Bees dance. Results: Less so.",
            "date": "2021-10-05",
            "authors": "Ada Lovelace; Bee Group",
            "site": "Scientific reports",
            "doi": "10.1038/s41598-021-00001-1",
            "kind": "paper",
            "alternatives": [
                "https://pmc.ncbi.nlm.nih.gov/articles/PMC8500000/",
                "https://doi.org/10.1038/s41598-021-00001-1",
            ],
            "text": "Background: Bees dance.\n\nResults: Less so.",
        }
    ]


async def test_pubmed_is_not_asked_for_records_of_nothing():
    found = await search("pubmed", answer_of({"esearchresult": {"count": "0", "idlist": []}}))

    assert (found.hits, len(found.asked)) == ([], 1)


WANTS_ALL = {
    "wikipedia": ("gsrsearch", {}, WIKIPEDIA),
    "europe_pmc": ("query", {"resultList": {"result": []}}, EUROPE_PMC),
    "pubmed": ("term", {"esearchresult": {"idlist": []}}, {"esearchresult": {"idlist": []}}),
}


@pytest.mark.parametrize("name", WANTS_ALL)
async def test_where_no_page_has_all_words_those_with_any_are_asked_for(name):
    param, nothing, something = WANTS_ALL[name]

    found = await search(
        name, answer_of(nothing), answer_of(something), query='How do "bees" (and ants) dance?'
    )

    assert bool(found.hits) == (name != "pubmed")
    assert [found.params(0)[param], found.params(1)[param]] == [
        "bees ants dance",
        "bees OR ants OR dance",
    ]


@pytest.mark.parametrize("name", WANTS_ALL)
async def test_two_words_are_not_asked_for_twice(name):
    _, nothing, _ = WANTS_ALL[name]

    assert len((await search(name, answer_of(nothing))).asked) == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("The Who", ["The", "Who"]),
        ("What is C++ 'move' in C#?", ["C++", "move", "C#"]),
        ("cost-benefit AND NOT title:x*", ["cost-benefit", "title", "x"]),
        ("蜜蜂的舞蹈？", ["蜜蜂的舞蹈"]),
        ("?! …", []),
    ],
)
def test_the_words_of_a_query_are_what_it_is_about(query, words):
    assert topic_words(query) == words


# Crossref: https://github.com/CrossRef/rest-api-doc, api.crossref.org/swagger-ui.
CROSSREF = {
    "status": "ok",
    "message-type": "work-list",
    "message-version": "1.0.0",
    "message": {
        "total-results": 1,
        "items": [
            {
                "DOI": "10.1037/0003-066X.59.1.29",
                "URL": "https://doi.org/10.1037/0003-066x.59.1.29",
                "title": ["How the Mind Hurts &amp; Heals the Body"],
                "author": [
                    {"given": "Oakley", "family": "Ray", "sequence": "first", "affiliation": []},
                    {"name": "Bee Group", "sequence": "additional", "affiliation": []},
                ],
                "abstract": "<jats:title>Abstract</jats:title><jats:p>Bees <jats:italic>dance"
                "</jats:italic>.</jats:p>",
                "issued": {"date-parts": [[2004, 1]]},
                "container-title": ["American Psychologist"],
                "publisher": "APA",
                "type": "journal-article",
                "link": [{"URL": "https://psycnet.apa.org/x.pdf", "content-type": "unspecified"}],
            }
        ],
    },
}


async def test_crossref_answers_with_what_publishers_have_registered():
    found = await search("crossref", answer_of(CROSSREF))

    assert found.path() == "/works"
    params = found.params()
    assert (params["query.bibliographic"], params["rows"]) == ("waggle dance", "5")
    assert params["mailto"] == CONTACT
    assert found.hits == [
        {
            "url": "https://doi.org/10.1037/0003-066x.59.1.29",
            "title": "How the Mind Hurts & Heals the Body",
            "snippet": "Abstract Bees dance.",
            "date": "2004-01",
            "authors": "Oakley Ray; Bee Group",
            "site": "American Psychologist",
            "doi": "10.1037/0003-066x.59.1.29",
            "kind": "paper",
            "alternatives": ["https://psycnet.apa.org/x.pdf"],
            "text": "Abstract\n\nBees dance.",
        }
    ]


# Stack Exchange: https://api.stackexchange.com/docs/excerpt-search.
STACKEXCHANGE: dict[str, Any] = {
    "items": [
        {
            "item_type": "answer",
            "answer_id": 12,
            "question_id": 11,
            "title": "What is the <code>yield</code> keyword?",
            "excerpt": 'hellip; a <span class="highlight">generator</span> &hellip;',
            "body": "Use a generator.",
            "score": 18000,
            "is_accepted": True,
            "creation_date": 1224800471,
            "last_activity_date": 1700000000,
        },
        {
            "item_type": "question",
            "question_id": 11,
            "title": "What is the yield keyword?",
            "excerpt": "again",
            "creation_date": 1224800471,
        },
        {"item_type": "question", "question_id": 13, "title": "Q", "excerpt": "e"},
    ],
    "has_more": True,
    "quota_max": 300,
    "quota_remaining": 298,
}


async def test_stack_exchange_answers_with_one_hit_for_a_question_and_its_answers():
    found = await search("stackexchange", answer_of(STACKEXCHANGE), key=KEY)

    assert found.path() == "/search/excerpts"
    params = found.params()
    assert (params["q"], params["site"], params["key"]) == ("waggle dance", "stackoverflow", KEY)
    assert found.hits == [
        {
            "url": "https://stackoverflow.com/questions/11",
            "title": "What is the yield keyword?",
            "snippet": "hellip; a generator …",
            "date": "2023-11-14",
            "site": "Stack Overflow",
            "kind": "forum",
            "text": "Use a generator.",
        },
        {
            "url": "https://stackoverflow.com/questions/13",
            "title": "Q",
            "snippet": "e",
            "site": "Stack Overflow",
            "kind": "forum",
        },
    ]


# GitHub: https://docs.github.com/rest/search/search#search-repositories.
GITHUB = {
    "total_count": 1,
    "incomplete_results": False,
    "items": [
        {
            "id": 3081286,
            "full_name": "dtrupenn/Tetris",
            "owner": {"login": "dtrupenn", "type": "User"},
            "html_url": "https://github.com/dtrupenn/Tetris",
            "description": "A C implementation of Tetris",
            "pushed_at": "2012-01-01T00:31:50Z",
            "stargazers_count": 7,
            "language": "Assembly",
            "license": {"key": "mit", "spdx_id": "MIT"},
        }
    ],
}


@pytest.mark.parametrize("key", ["", KEY])
async def test_github_answers_with_repositories(key):
    found = await search("github", answer_of(GITHUB), query="tetris user:x", key=key)

    assert found.path() == "/search/repositories"
    assert found.params() == {"q": "tetris user x", "per_page": "5"}
    assert found.asked[0].headers["x-github-api-version"] == "2022-11-28"
    assert found.asked[0].headers.get("authorization") == (f"Bearer {KEY}" if key else None)
    told = "language Assembly, stars 7, licence MIT, last change 2012-01-01"
    assert found.hits == [
        {
            "url": "https://github.com/dtrupenn/Tetris",
            "title": "dtrupenn/Tetris",
            "snippet": f"A C implementation of Tetris ({told})",
            "date": "2012-01-01",
            "authors": "dtrupenn",
            "site": "GitHub",
            "kind": "code",
            "alternatives": ["https://raw.githubusercontent.com/dtrupenn/Tetris/HEAD/README.md"],
        }
    ]


# Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search.
TAVILY = {
    "query": "waggle dance",
    "results": [
        {
            "title": "Bees dance",
            "url": "https://news.example/bees",
            "content": "They do.",
            "score": 0.9,
            "raw_content": None,
            "published_date": "Mon, 02 Nov 2026 10:00:00 GMT",
        }
    ],
    "response_time": 1.1,
}
# Brave: https://api-dashboard.search.brave.com/app/documentation.
BRAVE_RESULT = {
    "title": "Bees dance",
    "url": "https://news.example/bees",
    "description": "They <strong>do</strong>.",
    "age": "3 weeks ago",
    "page_age": "2026-11-02T10:00:00",
}
# Serper: https://serper.dev, the playground.
SERPER_RESULT = {
    "title": "Bees dance",
    "link": "https://news.example/bees",
    "snippet": "They do.",
    "date": "Nov 2, 2026",
    "position": 1,
}
# Exa: https://exa.ai/docs/reference/search.
EXA = {
    "requestId": "b5947044c4b78efa9552a7c89b306d95",
    "results": [
        {
            "title": "Bees dance",
            "url": "https://news.example/bees",
            "publishedDate": "2026-11-02T10:00:00.000Z",
            "author": "Ada Lovelace",
            "id": "https://news.example/bees",
            "text": "They do.",
        }
    ],
}
# SearXNG: https://docs.searxng.org/dev/search_api.html.
SEARXNG = {
    "query": "waggle dance",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://news.example/bees",
            "title": "Bees dance",
            "content": "They do.",
            "publishedDate": "2026-11-02T10:00:00",
            "engine": "bing news",
            "category": "news",
        }
    ],
    "unresponsive_engines": [],
}
NEWS = {
    "tavily": (TAVILY, "/search", {"query": "waggle dance", "max_results": 5, "topic": "news"}),
    "brave": (
        {"type": "news", "results": [BRAVE_RESULT]},
        "/news/search",
        {"q": "waggle dance", "count": "5"},
    ),
    "serper": (
        {"searchParameters": {"type": "news"}, "news": [SERPER_RESULT], "credits": 1},
        "/news",
        {"q": "waggle dance", "num": 5},
    ),
    "exa": (
        EXA,
        "/search",
        {
            "query": "waggle dance",
            "numResults": 5,
            "contents": {"text": {"maxCharacters": 1000}},
            "category": "news",
        },
    ),
    "searxng": (SEARXNG, "/search", {"q": "waggle dance", "format": "json", "categories": "news"}),
}


@pytest.mark.parametrize("name", NEWS)
async def test_a_provider_with_news_is_asked_for_them_and_tells_their_dates(name):
    value, path, sent = NEWS[name]

    found = await search(name, answer_of(value), topic="news")

    asked = found.asked[0]
    assert found.path() == path
    assert (json.loads(asked.body) if asked.body else found.params()) == sent
    assert (
        found.hits[0]
        | {
            "url": "https://news.example/bees",
            "title": "Bees dance",
            "snippet": "They do.",
            "date": "2026-11-02",
        }
        == found.hits[0]
    )


GENERAL: dict[str, tuple[object, str]] = {
    "serper": ({"searchParameters": {"type": "search"}, "organic": [SERPER_RESULT]}, "/search"),
    "brave": ({"type": "search", "web": {"results": [BRAVE_RESULT]}}, "/web/search"),
}


@pytest.mark.parametrize("name", GENERAL)
async def test_a_provider_with_news_is_asked_for_the_web_otherwise(name):
    value, path = GENERAL[name]

    found = await search(name, answer_of(value))

    assert (found.path(), found.hits[0]["title"]) == (path, "Bees dance")


@pytest.mark.parametrize(("name", "header"), [("serper", "x-api-key"), ("exa", "x-api-key")])
async def test_a_key_is_sent_in_a_header(name, header):
    answer = {"organic": [], "results": []}

    assert (await search(name, answer_of(answer))).asked[0].headers[header] == KEY


# DuckDuckGo: the page of html.duckduckgo.com as `ddgs` reads it.
RESULT = """<div class="result results_links results_links_deep web-result">
<div class="links_main links_deep result__body"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="{url}">Waggle dance - Wikipedia</a></h2>
<a class="result__snippet" href="{url}"><b>Waggle</b> dance is a term.</a></div></div>"""


def duckduckgo_page(*urls: str) -> bytes:
    results = "".join(RESULT.format(url=url) for url in urls)
    return reply(f'<html><body><div id="links" class="results">{results}</div></body></html>')


async def test_duckduckgo_is_asked_for_its_page_without_scripts():
    advert = "https://duckduckgo.com/y.js?ad_domain=x.example"
    page = duckduckgo_page(advert, "https://en.wikipedia.org/wiki/Waggle_dance")

    found = await search("duckduckgo", page)

    assert dict(parse_qsl(found.asked[0].body.decode()))["q"] == "waggle dance"
    assert found.hits == [
        {
            "url": "https://en.wikipedia.org/wiki/Waggle_dance",
            "title": "Waggle dance - Wikipedia",
            "snippet": "Waggle dance is a term.",
        }
    ]


NEWS_OF_DUCKDUCKGO = {
    "results": [
        {
            "date": 1793613600,
            "excerpt": "They <b>do</b>.",
            "relative_time": "3 weeks ago",
            "source": "Bee News",
            "title": "Bees dance",
            "url": "https://news.example/bees",
        }
    ]
}


async def test_duckduckgo_is_asked_for_news_with_the_token_of_its_first_page():
    first = reply('<script>DDG.x("vqd=4-12345678901234567890&q=bees")</script>')

    found = await search("duckduckgo", first, answer_of(NEWS_OF_DUCKDUCKGO), topic="news")

    assert [found.path(0), found.path(1)] == ["/", "/news.js"]
    assert found.params(1)["vqd"] == "4-12345678901234567890"
    assert found.hits == [
        {
            "url": "https://news.example/bees",
            "title": "Bees dance",
            "snippet": "They do.",
            "date": "2026-11-02",
            "site": "Bee News",
            "kind": "news",
        }
    ]


@pytest.mark.parametrize("second", [reply("no json"), answer_of([1]), answer_of({"results": [1]})])
async def test_news_of_duckduckgo_that_cannot_be_read_are_a_failure(second):
    with pytest.raises(Problem, match="cannot be read"):
        await search("duckduckgo", reply('vqd="4-1234567"'), second, topic="news")

    with pytest.raises(Problem, match="cannot be read"):
        await search("duckduckgo", reply("a page without a token"), topic="news")


async def test_a_page_of_duckduckgo_without_results_has_found_nothing():
    assert (await search("duckduckgo", duckduckgo_page())).hits == []


@pytest.mark.parametrize("name", sorted(set(DECLARATIONS) - {"duckduckgo", "worldbank"}))
async def test_every_request_says_who_asks_and_whom_to_write_to(name):
    empty = {"results": [], "items": [], "organic": [], "web": {"results": []}}
    empty |= {"message": {"items": []}, "resultList": {"result": []}}
    empty |= {"esearchresult": {"idlist": []}, "query": {"pages": []}}

    found = await search(name, feed() if name == "arxiv" else answer_of(empty))

    assert found.hits == []
    assert found.asked[0].headers["user-agent"] == f"Dossier/0.1 ({CONTACT})"
