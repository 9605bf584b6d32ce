-- The two functions of `macros/` that Spark cannot have in the same words.
-- Casting a double to a decimal goes through its shortest text there, and no built-in rounds the
-- exact value of a double, so both take it apart: whole units of 2^-22 and the rest are exact.

-- A number in whole units of 2^-70; one beyond 847 billion has none.
create or replace temporary function to_units(x double) returns decimal(33, 0) return
    try_cast(
        cast(sign(x) as decimal(1, 0)) * (
            try_cast(floor(abs(x) * 4194304D) as bigint) * cast(281474976710656 as decimal(15, 0))
            + cast(
                round((abs(x) * 4194304D - floor(abs(x) * 4194304D)) * 281474976710656D) as bigint
            )
        )
        as decimal(33, 0)
    );

-- Units by 2^70, rounded to a whole number; ties go to the even one.
create or replace temporary function round_units(units decimal(38, 0)) returns bigint return
    (units div 1180591620717411303424) + case
        when 2 * (units % 1180591620717411303424) > 1180591620717411303424 then 1
        when 2 * (units % 1180591620717411303424) = 1180591620717411303424
            then (units div 1180591620717411303424) % 2
        else 0
    end;

-- Ties go to the even digit, and the exact value of a double decides what is a tie.
create or replace temporary function round_half_even(x double, digits int) returns double return
    sign(x)
    * cast(round_units(to_units(abs(x)) * cast(power(10, digits) as decimal(5, 0))) as double)
    / power(10, digits);
