"""The ferry desk: sailings, bookings, cancellations."""

from orchbench_analytics.demo.domain.parts import (
    Agent,
    Barred,
    Missing,
    Tool,
    Wording,
    date,
    flag,
    text,
    whole,
)
from orchbench_analytics.demo.slots import (
    Both,
    Choice,
    Clock,
    Code,
    Flag,
    Number,
    Rows,
    Slot,
    Terms,
)

DECKS = {
    "open_deck": Both("open deck", "야외 갑판"),
    "saloon": Both("saloon", "객실"),
    "cabin": Both("cabin", "침대칸"),
}
ORDERS = {
    "departure_time": Both("earliest first", "출발이 빠른 순"),
    "fare": Both("cheapest first", "운임이 싼 순"),
    "duration": Both("fastest first", "소요 시간이 짧은 순"),
}
SLOTS: dict[str, Slot] = {
    "harbour": Choice(
        ("Pellworth", "Sandrey Quay", "Aldmoor", "Tarn Landing", "Gullsby"),
        ("솔내항", "달여울항", "은모래항", "너울포구", "갈매나루"),
    ),
    "island": Choice(
        ("Skerrow", "Little Marrow", "Hestan", "Ormsay", "Brindle Isle"),
        ("별뫼섬", "고래등섬", "안개섬", "모루도", "해오름섬"),
    ),
    "ship": Choice(
        ("Kittiwake", "Grey Heron", "Maid of Ormsay", "Lantern", "Old Patience"),
        ("바다제비호", "푸른돛호", "새벽별호", "물수리호", "온누리호"),
    ),
    "sails_at": Clock(6, 13),
    "lands_at": Clock(14, 20),
    "ferry_id": Code("FR-####"),
    "booking_id": Code("BK-######"),
    "fare": Number(8, 44, 2, times_in_korean=700),
    "seats_left": Number(4, 90),
    "bicycle": Flag(),
    "deck": Terms(DECKS),
    "sort_ferries": Terms(ORDERS),
}

FIND = Tool(
    name="findFerries",
    title=Both("Find sailings", "배편 조회"),
    about=Both(
        "Finds the sailings between a harbour and an island on one day, with fares and free seats.",
        "정해진 날짜에 항구와 섬 사이를 오가는 배편을 운임, 남은 좌석과 함께 찾습니다.",
    ),
    parameters={
        "origin": text("Harbour of departure", "출발 항구"),
        "destination": text("Island or harbour of arrival", "도착하는 섬 또는 항구"),
        "travelDate": date("Day of travel, YYYY-MM-DD", "이용 날짜(YYYY-MM-DD)"),
        "sortBy": text("Order of the sailings", "정렬 기준", enum=[*ORDERS]),
        "maxResults": whole("At most this many sailings", "최대 조회 건수"),
    },
    required=("refinedQuery", "origin", "destination", "travelDate"),
    arguments={
        "origin": "{harbour}",
        "destination": "{island}",
        "travelDate": "{day}",
        "sortBy": "{sort_ferries}",
    },
    result={
        "route": "{harbour} - {island}",
        "travelDate": "{day}",
        "ferries": Rows(
            4,
            {
                "ferryId": "{ferry_id}",
                "ship": "{ship}",
                "departure": "{sails_at}",
                "arrival": "{lands_at}",
                "fare": "$fare",
                "seatsLeft": "$seats_left",
                "takesBicycles": "$bicycle",
            },
        ),
        "notice": Both(
            "Boarding closes fifteen minutes before departure; bring a photo identity card.",
            "승선은 출항 15분 전에 마감되며, 신분증을 꼭 지참하셔야 합니다.",
        ),
    },
    varies=("ferry_id", "ship", "sails_at", "lands_at", "fare", "seats_left", "bicycle"),
    twin=("island",),
    en=Wording(
        asks=(
            "find out which ferries sail from {harbour} to {island} on {day:said}, "
            "{sort_ferries:said}",
            "look up the sailings from {harbour} to {island} for {day:said}, {sort_ferries:said}",
        ),
        query="Ferries from {harbour} to {island} on {day:said}",
        answer="These boats leave {harbour} for {island} on {day:said}:",
        line="{ship} ({ferry_id}): departs {sails_at}, arrives {lands_at}, "
        "{fare} crowns, {seats_left} seats left",
    ),
    ko=Wording(
        asks=(
            "{day:said}에 {harbour}에서 {island}까지 가는 배편을 {sort_ferries:said으로} 찾아",
            "{harbour}에서 {island:으로} 들어가는 {day:said} 배편을 {sort_ferries:said으로} 알려",
        ),
        query="{day:said} {harbour}발 {island}행 배편 조회",
        answer="{day:said}에 {harbour}에서 {island:으로} 가는 배편입니다.",
        line="{ship}({ferry_id}): {sails_at} 출발, {lands_at} 도착, "
        "운임 {fare}원, 잔여석 {seats_left}석",
    ),
)

BOOK = Tool(
    name="bookFerry",
    title=Both("Book a sailing", "배편 예약"),
    about=Both(
        "Books seats on a sailing; one booking takes at most 9 passengers.",
        "배편의 좌석을 예약합니다. 한 번에 최대 9명까지 예약할 수 있습니다.",
    ),
    parameters={
        "ferryId": text(
            "Sailing, such as FR-1234", "배편 번호(예: FR-1234)", pattern=r"^FR-\d{4}$"
        ),
        "passengers": whole("Number of passengers", "승선 인원"),
        "deck": text("Where to sit", "좌석 구역", enum=[*DECKS]),
        "withBicycle": flag("Whether a bicycle comes along", "자전거 동반 여부"),
        "leadPassenger": text("Name on the ticket", "승선권에 적을 이름"),
    },
    required=("refinedQuery", "ferryId", "passengers", "leadPassenger"),
    arguments={
        "ferryId": "{ferry_id}",
        "passengers": "$guests",
        "deck": "{deck}",
        "withBicycle": True,
        "leadPassenger": "{person}",
    },
    result={
        "bookingId": "{booking_id}",
        "status": "confirmed",
        "ferryId": "{ferry_id}",
        "travelDate": "{day}",
        "departure": "{sails_at}",
        "passengers": "$guests",
        "leadPassenger": "{person}",
        "totalFare": "$fare",
        "conditions": Both(
            "Free cancellation until noon of the day before; half the fare after that.",
            "출항 전날 정오까지는 무료로 취소할 수 있고, 이후에는 운임의 절반이 수수료로 "
            "부과됩니다.",
        ),
    },
    twin=("ferry_id", "booking_id"),
    missing_keys=("passengers", "leadPassenger"),
    en=Wording(
        asks=(
            "book {guests} seats on sailing {ferry_id}, {deck:said}, in the name of "
            "{person}, and take a bicycle along",
            "reserve ferry {ferry_id} for {guests} people in the {deck:said} with a bicycle, "
            "ticket to {person}",
        ),
        query="Book sailing {ferry_id} for {guests} passengers",
        answer="Your crossing is booked: {ferry_id} on {day:said} at {sails_at} for {guests} "
        "passengers in the name of {person}. The booking number is {booking_id}.",
        missing=Missing(
            "book us and one bicycle onto the {deck:said} of sailing {ferry_id}",
            "Number of passengers, name on the ticket",
            "How many of you are travelling, and whose name should be on the ticket?",
            "There are {guests} of us. Put it under {person}.",
        ),
        barred=Barred(
            "book all 26 of our choir onto sailing {ferry_id} in one go",
            "One booking takes at most 9 passengers, 26 were asked for",
            "I cannot put 26 people on one booking: the desk takes nine at a time. Groups can be "
            "split, or arranged with the harbour office.",
        ),
    ),
    ko=Wording(
        asks=(
            "{ferry_id} 배편 {deck:said} 자리를 {person} 이름으로 {guests}명 예약하고 자전거도 "
            "한 대 실어",
            "배편 {ferry_id}에 {deck:said으로} {guests}명 자리를 {person} 앞으로 잡고 자전거도 "
            "실어",
        ),
        query="{ferry_id} 배편 {guests}명 예약",
        answer="승선 예약이 완료되었습니다. {day:said} {sails_at}에 떠나는 {ferry_id} 배편이며, "
        "{person} 님 이름으로 {guests}명입니다. 예약 번호는 {booking_id}입니다.",
        missing=Missing(
            "{ferry_id} 배편을 {deck:said으로} 예약하고 자전거도 한 대 실어",
            "승선 인원, 예약자 이름",
            "모두 몇 분이 타시나요? 승선권에 적을 성함도 알려 주세요.",
            "{guests}명이고, 이름은 {person:으로} 해 주세요.",
        ),
        barred=Barred(
            "우리 합창단 26명 전부를 {ferry_id} 배편에 한 번에 예약해",
            "한 번에 최대 9명까지만 예약할 수 있으나 26명을 요청함",
            "죄송하지만 한 번에 예약할 수 있는 인원은 9명까지라서 26명은 어렵습니다. "
            "나누어 예약하시거나 항만 사무소에 단체 승선을 문의해 주세요.",
        ),
    ),
)

CANCEL = Tool(
    name="cancelFerryBooking",
    title=Both("Cancel a booking", "승선 예약 취소"),
    about=Both(
        "Cancels a ferry booking and says what is paid back.",
        "승선 예약을 취소하고 환불 금액을 알려 줍니다.",
    ),
    parameters={
        "bookingId": text(
            "Booking number, such as BK-123456", "예약 번호(예: BK-123456)", pattern=r"^BK-\d{6}$"
        ),
        "reason": text("Why", "취소 사유"),
    },
    required=("refinedQuery", "bookingId"),
    arguments={"bookingId": "{booking_id}", "reason": Both("Change of plans", "일정 변경")},
    result={
        "bookingId": "{booking_id}",
        "status": "cancelled",
        "refund": "$fare",
        "refundBy": "{later}",
        "message": Both(
            "The refund goes back to the card it was paid with.",
            "환불 금액은 결제하신 카드로 돌려드립니다.",
        ),
    },
    twin=("booking_id",),
    missing_keys=("bookingId",),
    en=Wording(
        asks=(
            "cancel my ferry booking {booking_id}, our plans have changed",
            "call off booking {booking_id}; we changed our plans",
        ),
        query="Cancel ferry booking {booking_id}",
        answer="Booking {booking_id} is cancelled. {fare} crowns will be back on your card by "
        "{later:said}.",
        missing=Missing(
            "cancel the crossing I booked last week, our plans have changed",
            "Booking number",
            "Which booking shall I cancel? The number starts with BK.",
            "It is {booking_id}.",
        ),
    ),
    ko=Wording(
        asks=(
            "일정이 바뀌어서 그런데 승선 예약 {booking_id:을} 취소해",
            "일정 변경 때문에 예약 번호 {booking_id} 건을 취소해",
        ),
        query="승선 예약 {booking_id} 취소",
        answer="예약 {booking_id} 건이 취소되었습니다. {fare}원이 {later:said}까지 카드로 "
        "환불됩니다.",
        missing=Missing(
            "일정이 바뀌었으니 지난주에 잡은 배 예약을 취소해",
            "예약 번호",
            "어떤 예약을 취소할까요? BK로 시작하는 예약 번호를 알려 주세요.",
            "예약 번호는 {booking_id}입니다.",
        ),
    ),
)

FERRY = Agent(
    agent_id="ferry_agent",
    name=Both("Ferry Desk", "여객선 안내"),
    about=Both(
        "Knows every sailing between the harbours and the islands; books and cancels seats.",
        "항구와 섬을 잇는 모든 배편을 안내하고, 좌석을 예약하거나 취소해 줍니다.",
    ),
    tools=(FIND, BOOK, CANCEL),
    slots=SLOTS,
)
