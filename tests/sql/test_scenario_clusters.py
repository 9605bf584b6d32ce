def file(model: str, language: str, scenario: str, signature: str | None) -> dict:
    return {
        "model": model,
        "language": language,
        "scenario": scenario,
        "label_signature": signature,
    }


def expected(*rows: tuple) -> list[dict]:
    columns = ("language", "scenario", "cluster", "cluster_scenario_count", "cluster_basis")
    return [dict(zip(columns, row, strict=True)) for row in rows]


def test_equal_signatures_are_translations_and_equal_numbers_are_not(given, expect) -> None:
    given(
        scenarios=[
            file("m", "EN", "57", "book, pay"),
            file("m", "KO", "23", "book, pay"),
            file("other", "KO", "23", "book, pay"),
            file("m", "KO", "57", "ask"),
        ]
    )
    expect(
        "scenario_clusters",
        expected(
            ("EN", "57", "EN/57", 2, "translation"),
            ("KO", "23", "EN/57", 2, "translation"),
            ("KO", "57", "KO/57", 1, "alone"),
        ),
    )


def test_a_signature_that_two_scenarios_of_a_language_have_tells_nothing(given, expect) -> None:
    given(
        scenarios=[
            file("m", "EN", "1", "book"),
            file("m", "EN", "2", "book"),
            file("m", "KO", "1", "book"),
        ]
    )
    expect(
        "scenario_clusters",
        expected(
            ("EN", "1", "EN/1", 1, "alone"),
            ("EN", "2", "EN/2", 1, "alone"),
            ("KO", "1", "KO/1", 1, "alone"),
        ),
    )


def test_without_labels_or_with_changed_ones_a_scenario_is_alone(given, expect) -> None:
    given(
        scenarios=[
            file("m", "EN", "1", None),
            file("m", "KO", "1", None),
            file("m", "EN", "2", "book"),
            file("other", "EN", "2", "book, pay"),
            file("m", "KO", "2", "book"),
        ],
        reported_scenarios=[{"language": "EN", "scenario": "9"}],
    )
    expect(
        "scenario_clusters",
        expected(
            ("EN", "1", "EN/1", 1, "alone"),
            ("EN", "2", "EN/2", 1, "alone"),
            ("EN", "9", "EN/9", 1, "alone"),
            ("KO", "1", "KO/1", 1, "alone"),
            ("KO", "2", "KO/2", 1, "alone"),
        ),
    )
