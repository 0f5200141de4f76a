"""What a program only repeats of its own text is no source."""

from __future__ import annotations

from tests.cases import each_case
from tools.printed_lines import drop_repeated_lines


@each_case(
    [
        ("print('The fee is 4242 euros')", "The fee is 4242 euros", True, ""),
        ("print('The fee is 4242 euros')", "The fee is 4242 euros", False, ""),
        ("x = 4242\nprint('Fee:', x)", "Fee: 4242", False, ""),
        ("x = 4_242\nprint(f'Fee: {x:,}')", "Fee: 4,242", False, ""),
        ("print('Oslo', 'leads')", "Oslo leads", False, ""),
        ("print('Difference:', 890 - 640)", "Difference: 250", False, "Difference: 250"),
        ("print('Rows above 1.5:', n)", "Rows above 1.5: 52", True, "Rows above 1.5: 52"),
        ("print('Rows:', n)", "Rows: 6", True, "Rows: 6"),
        ("print('By region:')\nprint(t)", "By region:\nNorth 3", True, "By region:\nNorth 3"),
        ("print('''No page says that it leaks.\n''')", "No page says that it leaks.", True, ""),
        (
            "print('The five packages that differ most:')\nprint('Package', n, size)",
            "The five packages that differ most:\nPackage tern 52",
            True,
            "The five packages that differ most:\nPackage tern 52",
        ),
        (
            "print('No page says that it leaks:')\nprint('It is said to be tight.')",
            "No page says that it leaks:\nIt is said to be tight.",
            True,
            "",
        ),
        (
            "print('No page says that it leaks:')\nprint('And none that it is tight:')\nprint(t)",
            "No page says that it leaks:\nAnd none that it is tight:\nNorth 3",
            True,
            "And none that it is tight:\nNorth 3",
        ),
        (
            "print('Each of the 40 boats costs 900:')\nprint(t)",
            "Each of the 40 boats costs 900:\nNorth 3",
            True,
            "North 3",
        ),
        ("this is no program", "Fee: 12", True, "Fee: 12"),
    ]
)
def test_a_line_is_kept_if_the_program_had_to_work_it_out(
    code: str, output: str, reads: bool, kept: str
):
    assert drop_repeated_lines(code, output, reads=reads) == kept
