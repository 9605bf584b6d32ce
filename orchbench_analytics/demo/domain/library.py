"""The library desk: catalogue, reservations, loans."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    text,
    whole,
)
from orchbench_analytics.demo.slots import Both, Choice, Code, Number, Rows, Slot, Terms

FORMATS = {
    "print": Both("printed", "종이책"),
    "large_print": Both("large-print", "큰글자책"),
    "audio": Both("audio", "소리책"),
    "braille": Both("braille", "점자책"),
}
NOTICES = {
    "text_message": Both("text message", "문자"),
    "letter": Both("letter", "편지"),
    "telephone": Both("telephone", "전화"),
}
SLOTS: dict[str, Slot] = {
    "subject": Choice(
        ("reading the tides", "keeping bees", "knots and splices", "old harbour songs", "mosses"),
        ("물때 읽는 법", "벌 기르기", "매듭과 밧줄 잇기", "포구의 옛 노래", "이끼"),
    ),
    "book": Choice(
        ("The Patient Shore", "A Hive for Every Yard", "Bowline and Bend", "Nets at Dawn", "Green"),
        ("기다리는 바닷가", "마당마다 벌통 하나", "매듭의 쓸모", "새벽 그물", "가장 낮은 초록"),
    ),
    "author": Choice(
        ("Nell Corriston", "A. P. Dunmore", "Hanne Vik", "Lucas Orrell"),
        ("노을빛", "차우람", "백나래", "구하늬"),
    ),
    "branch": Choice(
        ("the harbour branch", "the hill branch", "the reading barge", "the main house"),
        ("바닷가 분관", "언덕 분관", "책 나룻배", "중앙관"),
    ),
    "format": Terms(FORMATS),
    "notice": Terms(NOTICES),
    "book_id": Code("LB-#####"),
    "loan_id": Code("LN-######"),
    "shelf": Code("##.#"),
    "copies": Number(1, 6),
    "queue": Number(0, 5),
    "weeks": Number(2, 3),
    "at_most": Number(3, 8),
    "year": Number(1978, 2029),
}

SEARCH = Tool(
    name="searchCatalogue",
    title=Both("Search the catalogue", "자료 검색"),
    about=Both(
        "Searches the catalogue by subject and format.",
        "주제와 자료 형태로 소장 자료를 검색합니다.",
    ),
    parameters={
        "keyword": text("Subject or words of the title", "주제 또는 제목의 낱말"),
        "format": text("Format", "자료 형태", enum=[*FORMATS]),
        "maxResults": whole("At most this many", "최대 검색 건수", minimum=1, maximum=20),
        "author": text("Author", "지은이"),
    },
    required=("refinedQuery", "keyword"),
    arguments={"keyword": "{subject}", "format": "{format}", "maxResults": "$at_most"},
    result={
        "keyword": "{subject}",
        "books": Rows(
            4,
            {
                "bookId": "{book_id}",
                "title": "{book}",
                "author": "{author}",
                "year": "$year",
                "shelf": "{shelf}",
                "copiesFree": "$copies",
                "branch": "{branch}",
            },
        ),
    },
    varies=("book_id", "book", "author", "year", "shelf", "copies", "branch"),
    twin=("subject",),
    en=Wording(
        asks=(
            "search the library for {format:said} books about {subject}, {at_most} at most",
            "find up to {at_most} {format:said} titles on {subject}",
        ),
        query="Library books about {subject} ({format:said})",
        answer="The catalogue has these about {subject}:",
        line="{book} by {author} ({year}), {book_id}, shelf {shelf} at {branch}, {copies} free",
    ),
    ko=Wording(
        asks=(
            "도서관에서 '{subject}'에 관한 {format:said을} {at_most}권까지 찾아",
            "'{subject}' 주제의 {format:said을} 최대 {at_most}권 검색해",
        ),
        query="'{subject}' 관련 {format:said} 검색",
        answer="'{subject}'에 관한 소장 자료입니다.",
        line="{book}({author}, {year}): {book_id}, {branch} {shelf} 서가, 대출 가능 {copies}권",
    ),
)

RESERVE = Tool(
    name="reserveBook",
    title=Both("Reserve a book", "도서 예약"),
    about=Both(
        "Reserves a book for pick-up at a branch; books of the archive are not lent.",
        "책을 예약해 원하는 분관에서 받습니다. 보존 서고의 책은 대출되지 않습니다.",
    ),
    parameters={
        "bookId": text("Book, such as LB-12345", "책 번호(예: LB-12345)", pattern=r"^LB-\d{5}$"),
        "pickupBranch": text("Where to pick it up", "받을 분관"),
        "notifyBy": text("How to tell when it is there", "도착 알림 방법", enum=[*NOTICES]),
        "reader": text("Name of the reader", "예약자 이름"),
    },
    required=("refinedQuery", "bookId", "pickupBranch"),
    arguments={
        "bookId": "{book_id}",
        "pickupBranch": "{branch}",
        "notifyBy": "{notice}",
        "reader": "{person}",
    },
    result={
        "bookId": "{book_id}",
        "title": "{book}",
        "status": "reserved",
        "placeInQueue": "$queue",
        "readyBy": "{day}",
        "pickupBranch": "{branch}",
        "keptFor": Both(
            "Seven days after the notice, then it goes to the next reader.",
            "알림 뒤 이레 동안 보관하고, 그 뒤에는 다음 예약자에게 넘어갑니다.",
        ),
    },
    twin=("book_id", "book"),
    missing_keys=("pickupBranch", "notifyBy"),
    en=Wording(
        asks=(
            "reserve {book_id} for {person} at {branch} and send a {notice:said} when it is in",
            "put {book_id} aside for {person} at {branch}, notice by {notice:said}",
        ),
        query="Reserve {book_id} for pick-up at {branch}",
        answer="{book} ({book_id}) is reserved for {person} and should be at {branch} by "
        "{day:said}.",
        missing=Missing(
            "reserve {book_id} for {person}",
            "Branch for pick-up, way of notice",
            "Where would you like to pick it up, and how shall we tell you it is there?",
            "At {branch}, and by {notice:said}.",
        ),
        barred=Barred(
            "lend me the ship's log from the archive, {book_id}, to take home to {branch}",
            "Books of the archive are not lent",
            "The ship's log belongs to the archive and can only be read in the main house.",
        ),
    ),
    ko=Wording(
        asks=(
            "{book_id} 책을 {person} 이름으로 {branch}에서 받도록 예약하고 도착하면 "
            "{notice:said으로} 알려",
            "{branch}에서 받을 수 있게 {book_id:을} {person} 앞으로 예약하고 {notice:said으로} "
            "알려",
        ),
        query="{book_id} {branch} 수령 예약",
        answer="'{book}'({book_id}) 예약이 {person} 님 앞으로 완료되었습니다. {day:said}까지 "
        "{branch}에 "
        "도착할 예정입니다.",
        missing=Missing(
            "{book_id} 책을 {person} 이름으로 예약해",
            "수령할 분관, 알림 방법",
            "어느 분관에서 받으시고, 도착 알림은 어떻게 보내 드릴까요?",
            "{branch}에서 받을게요. 알림은 {notice:said으로} 주세요.",
        ),
        barred=Barred(
            "보존 서고에 있는 항해 일지 {book_id:을} 집에 가져가게 {branch:으로} 보내",
            "보존 서고의 자료는 대출할 수 없음",
            "항해 일지는 보존 서고 자료라서 중앙관 열람실에서만 보실 수 있습니다.",
        ),
    ),
)

RENEW = Tool(
    name="renewLoan",
    title=Both("Renew a loan", "대출 연장"),
    about=Both("Renews a loan by up to 3 weeks.", "대출 기간을 최대 3주까지 연장합니다."),
    parameters={
        "loanId": text(
            "Loan, such as LN-123456", "대출 번호(예: LN-123456)", pattern=r"^LN-\d{6}$"
        ),
        "weeks": whole("By how many weeks", "연장할 주 수", minimum=1, maximum=3),
    },
    required=("refinedQuery", "loanId", "weeks"),
    arguments={"loanId": "{loan_id}", "weeks": "$weeks"},
    result={
        "loanId": "{loan_id}",
        "title": "{book}",
        "weeks": "$weeks",
        "dueOn": "{later}",
        "renewalsLeft": "$queue",
    },
    twin=("loan_id",),
    missing_keys=("loanId",),
    en=Wording(
        asks=("renew loan {loan_id} by {weeks} weeks", "keep {loan_id} for {weeks} more weeks"),
        query="Renew loan {loan_id} by {weeks} weeks",
        answer="Loan {loan_id} ({book}) is renewed and now due on {later:said}.",
        missing=Missing(
            "renew my loan by {weeks} weeks",
            "Loan number",
            "Which loan is it? The number is on the slip and starts with LN.",
            "The slip says {loan_id}.",
        ),
        barred=Barred(
            "renew loan {loan_id} by a whole year",
            "A loan can be renewed by at most 3 weeks, 52 were asked for",
            "A loan can be renewed by three weeks at most, so a year is out of reach.",
        ),
    ),
    ko=Wording(
        asks=(
            "대출 {loan_id:을} {weeks}주 연장해",
            "{loan_id} 책을 {weeks}주 더 빌릴 수 있게 연장해",
        ),
        query="대출 {loan_id} {weeks}주 연장",
        answer="대출 {loan_id}('{book}')의 반납일이 {later:said}로 늘어났습니다.",
        missing=Missing(
            "지금 빌린 책을 {weeks}주 연장해",
            "대출 번호",
            "어느 대출 건인가요? 영수증에 있는 LN으로 시작하는 번호를 알려 주세요.",
            "영수증에 {loan_id:이라}고 적혀 있어요.",
        ),
        barred=Barred(
            "대출 {loan_id:을} 1년 동안 연장해",
            "대출은 최대 3주까지만 연장할 수 있으나 52주를 요청함",
            "대출은 한 번에 3주까지만 연장할 수 있어서 1년은 어렵습니다.",
        ),
    ),
)

LIBRARY = Agent(
    agent_id="library_agent",
    name=Both("Library Desk", "도서관 창구"),
    about=Both(
        "Searches the island library, reserves books and looks after loans.",
        "섬 도서관의 자료를 찾고, 책을 예약하며, 대출을 관리해 줍니다.",
    ),
    tools=(SEARCH, RESERVE, RENEW),
    slots=SLOTS,
)
