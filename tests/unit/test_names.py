"""What may be the name of a file under the data folder."""

from __future__ import annotations

import pytest

from config.errors import Problem
from config.user_files import check_file_name
from runs.lock import acquire
from runs.trace import trace_file
from tests.cases import each_case


@pytest.mark.parametrize("name", ["t1-1", "t1-1.2", "0f8e-4", "file.9", "_", "x" * 128])
def test_plain_names_are_names_of_files(name: str):
    assert check_file_name(name) == name


@each_case(["", "..", ".", "../x", "a/b", "a\\b", ".hidden", "-rf", "a\nb", "a\0", "é", "x" * 129])
def test_what_leads_elsewhere_is_no_name_of_a_trace_or_a_lock(name: str):
    for make in (trace_file, acquire):
        with pytest.raises(Problem) as problem:
            make(name)

        assert problem.value.code == "bad_file_name"
