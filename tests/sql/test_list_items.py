def test_each_distinct_item_of_a_list_has_a_row(given, expect) -> None:
    given(scored_steps=[{"label_tools": '["a", "b"]', "answer_tools": '["b"]'}])
    expect(
        "list_items",
        [
            {"list_text": '["a", "b"]', "item": "a"},
            {"list_text": '["a", "b"]', "item": "b"},
            {"list_text": '["b"]', "item": "b"},
        ],
    )


def test_quotes_commas_and_escapes_in_items_are_the_items_own(given, expect) -> None:
    text = r'["a\",", "\uac00\n, b"]'
    given(scored_steps=[{"label_tools": text}])
    expect(
        "list_items", [{"list_text": text, "item": 'a",'}, {"list_text": text, "item": "가\n, b"}]
    )


def test_values_are_taken_apart_once_each_and_only_where_judged(given, expect) -> None:
    judged = {"decided_by": "judge", "answer_values": '["1", "1"]', "label_values": '["2"]'}
    given(scored_arguments=[judged, {"answer_values": '["3"]', "label_values": '["3"]'}])
    expect(
        "list_items",
        [{"list_text": '["1", "1"]', "item": "1"}, {"list_text": '["2"]', "item": "2"}],
    )


def test_an_empty_or_absent_list_has_no_items(given, expect) -> None:
    given(scored_steps=[{"label_tools": "[]", "answer_tools": None}])
    expect("list_items", [])
