-- The two functions of `macros/` that Postgres cannot have in the same words.
-- Casting a double to a numeric keeps 15 digits there, and no built-in rounds the exact value of a
-- double, so both take it apart: whole units of 2^-22 and the rest are exact.

-- The nearest whole number to one that is not negative; ties go up.
create or replace function nearest_whole(x double precision) returns bigint
language sql immutable parallel safe as $$
    select cast(floor(x) as bigint) + case when x - floor(x) >= 0.5 then 1 else 0 end
$$;

-- A number in whole units of 2^-70; one beyond 847 billion has none.
create or replace function to_units(x double precision) returns numeric
language sql immutable parallel safe as $$
    select case
        when abs(x) < 847032947254
            then
                cast(sign(x) as integer) * (
                    cast(cast(floor(abs(x) * 4194304) as bigint) as numeric) * 281474976710656
                    + nearest_whole(
                        (abs(x) * 4194304 - floor(abs(x) * 4194304)) * 281474976710656
                    )
                )
    end
$$;

-- Units by 2^70, rounded to a whole number; ties go to the even one.
create or replace function round_units(units numeric) returns bigint
language sql immutable parallel safe as $$
    select cast(
        div(units, 1180591620717411303424) + case
            when 2 * mod(units, 1180591620717411303424) > 1180591620717411303424 then 1
            when 2 * mod(units, 1180591620717411303424) = 1180591620717411303424
                then mod(div(units, 1180591620717411303424), 2)
            else 0
        end
        as bigint
    )
$$;

-- Ties go to the even digit, and the exact value of a double decides what is a tie.
create or replace function round_half_even(x double precision, digits integer)
returns double precision
language sql immutable parallel safe as $$
    select
        sign(x)
        * cast(round_units(to_units(abs(x)) * cast(10 ^ digits as integer)) as double precision)
        / 10 ^ digits
$$;
