-- The arithmetic that views share, in an order in which each may use those before it.
-- Spark has them as SQL functions of the same names, apart from `exact_sum` and `exact_mean`, which
-- are expanded there: a SQL function cannot aggregate rows. `to_units` and `round_half_even` are
-- written for DuckDB here and for Spark in `functions/spark.sql`.

-- A part of a whole; null where there is nothing to divide by.
create or replace macro share(numerator, denominator) as
    cast(numerator as double) / nullif(denominator, 0);

-- The part of what was predicted that is right.
create or replace macro precision_of(true_positives, false_positives) as
    share(true_positives, true_positives + false_positives);

-- The part of what was labelled that was found.
create or replace macro recall_of(true_positives, false_negatives) as
    share(true_positives, true_positives + false_negatives);

-- 2PR / (P + R) of precision and recall; 0 where no prediction is right, and null where there are
-- neither labels nor predictions. As a fraction of counts its last bit would differ from the
-- public evaluator's.
create or replace macro f1(true_positives, false_positives, false_negatives) as
    case
        when true_positives + false_positives + false_negatives <> 0
            then coalesce(
                share(
                    2
                    * precision_of(true_positives, false_positives)
                    * recall_of(true_positives, false_negatives),
                    precision_of(true_positives, false_positives)
                    + recall_of(true_positives, false_negatives)
                ),
                0.0
            )
    end;

-- A number in whole units of 2^-70: whole numbers add up to the same sum in any order, doubles do
-- not. No bit is lost of a number above 2^-18; one beyond 847 billion has no units: it is null.
create or replace macro to_units(x) as
    try_cast(x * power(2, 70) as decimal(33, 0));

-- A sum of units as a number: the double nearest to the true sum. The way leads through text, since
-- DuckDB casts a wide decimal to a double in two halves and rounds twice.
create or replace macro from_units(units) as
    cast(cast(units as varchar) as double) / power(2, 70);

-- The sum over rows, the same in whatever order they come.
create or replace macro exact_sum(x) as
    from_units(sum(to_units(x)));

-- The mean over the rows that have a value, the same in whatever order they come.
create or replace macro exact_mean(x) as
    share(exact_sum(x), count(x));

-- The sum of counts over rows as an integer.
create or replace macro total(x) as
    cast(sum(x) as bigint);

-- The same over the rows that meet a condition; 0 where none does.
create or replace macro total_where(x, condition) as
    coalesce(cast(sum(x) filter (where condition) as bigint), 0);

-- The sum over rows in floating point, one after another by `position`: the last digit hangs on it.
create or replace macro sum_in_order(x, position) as
    list_reduce(list(x order by position) filter (where x is not null), lambda a, b: a + b);

-- The sum over rows as a profile adds up: exactly, or in the order of `position`.
create or replace macro sum_by_rule(x, position, addition) as
    case
        when any_value(addition) = 'in_order' then sum_in_order(x, position)
        else exact_sum(x)
    end;

-- Ties go to the even digit, and the exact value of a double decides what is a tie.
create or replace macro round_half_even(x, digits) as
    cast(printf('%.' || digits || 'f', x) as double);

-- A score as a profile carries it on: to four digits, or as it is.
create or replace macro round_by_rule(x, rounding) as
    case when rounding = 'four_digits' then round_half_even(x, 4) else x end;
