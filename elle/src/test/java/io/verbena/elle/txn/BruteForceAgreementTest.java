package io.verbena.elle.txn;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.elle.history.History;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * All small histories, judged by trying all orders. Where the checker rules a model out, no order exists; for lists
 * whose order is known, it rules the model out wherever none exists.
 */
class BruteForceAgreementTest
{
    /** How three transactions may lie in time: all at once, one after the other, two at once before or after one. */
    private static final String[][] TIMES =
    {
        {"@0-9", "@0-9", "@0-9"}, {"@0-1", "@2-3", "@4-5"}, {"@0-3", "@0-3", "@4-5"}, {"@0-1", "@2-5", "@2-5"},
        {"@0-9", "@0-1", "@2-3"}
    };

    private int histories;
    private int bad;
    private int badUnseen;

    @Test
    void shouldAgreeOnAllSmallHistoriesOfListsReadInTheEnd()
    {
        // Two transactions of up to two operations on two keys, then every outcome of reading both keys.
        final List<String> txns = transactions(List.of("ax", "ay", "rx", "ry"), 2);
        for (final String first : txns)
        {
            for (final String second : txns)
            {
                fill(first + " | " + second + " | rx ry", TxnWorkload.LIST_APPEND, this::agreeOnCompleteLists);
            }
        }
        assertThat(histories).isGreaterThan(5_000);
        assertThat(bad).isBetween(histories / 10, histories);
    }

    @Test
    void shouldAgreeOnThreeTransactionsOnOneList()
    {
        final List<String> txns = transactions(List.of("ax", "rx"), 2);
        for (final String first : txns)
        {
            for (final String second : txns)
            {
                for (final String third : List.of("ax", "rx", "rx rx"))
                {
                    final String all = first + " | " + second + " | " + third;
                    if (all.chars().filter(c -> c == 'a').count() <= 3)
                    {
                        fill(all, TxnWorkload.LIST_APPEND, this::beSoundOnLists);
                    }
                }
            }
        }
        assertThat(histories).isGreaterThan(10_000);
        assertThat(badUnseen).isZero();
    }

    @Test
    void shouldBeSoundOnAllSmallHistoriesOfRegisters()
    {
        final List<String> txns = transactions(List.of("wx", "wy", "rx", "ry"), 2);
        for (final String first : txns)
        {
            for (final String second : txns)
            {
                fill(first + " | " + second + " | rx ry", TxnWorkload.RW_REGISTER, this::beSoundOnRegisters);
            }
        }
        assertThat(histories).isGreaterThan(3_000);
        assertThat(badUnseen).isLessThan(bad / 2);
    }

    private void agreeOnCompleteLists(final String[] lines)
    {
        final String[] timed = timed(lines);
        final History history = TxnNotation.lists(timed);
        final TxnVerdict verdict = check(history, TxnWorkload.LIST_APPEND, TxnOptions.defaults());
        final boolean serializable = BruteForceSerial.isSerializable(history, TxnWorkload.LIST_APPEND);
        final boolean strict = BruteForceSerial.isStrictSerializable(history, TxnWorkload.LIST_APPEND);
        histories++;
        bad += strict ? 0 : 1;
        assertSound(timed, verdict, serializable, strict);
        if (readsAll(lines))
        {
            assertThat(verdict.rulesOut(ConsistencyModel.SERIALIZABLE)).as("%s", String.join(" | ", timed))
                .isEqualTo(!serializable);
            assertThat(verdict.rulesOut(ConsistencyModel.STRICT_SERIALIZABLE)).as("%s", String.join(" | ", timed))
                .isEqualTo(!strict);
        }
    }

    private void beSoundOnLists(final String[] lines)
    {
        beSound(lines, TxnWorkload.LIST_APPEND, TxnOptions.defaults());
    }

    private void beSoundOnRegisters(final String[] lines)
    {
        beSound(lines, TxnWorkload.RW_REGISTER, TxnOptions.defaults());
    }

    private void beSound(final String[] lines, final TxnWorkload workload, final TxnOptions options)
    {
        final String[] timed = timed(lines);
        final History history = TxnNotation.history(workload, timed);
        final boolean strict = BruteForceSerial.isStrictSerializable(history, workload);
        final TxnVerdict verdict = check(history, workload, options);
        histories++;
        bad += strict ? 0 : 1;
        badUnseen += strict || verdict.rulesOut(ConsistencyModel.STRICT_SERIALIZABLE) ? 0 : 1;
        assertSound(timed, verdict, strict || BruteForceSerial.isSerializable(history, workload), strict);
        if (workload == TxnWorkload.RW_REGISTER)
        {
            // Whoever is strict-serializable is linearizable key by key, so this must not find anything either.
            final TxnVerdict assuming = check(history, workload, options.assuming(true, true, true));
            assertThat(strict && assuming.rulesOut(ConsistencyModel.STRICT_SERIALIZABLE))
                .as("%s: %s", String.join(" | ", timed), assuming.anomalies()).isFalse();
        }
    }

    private static void assertSound(
        final String[] lines, final TxnVerdict verdict, final boolean serializable, final boolean strict)
    {
        assertThat(serializable && verdict.rulesOut(ConsistencyModel.SERIALIZABLE))
            .as("%s: %s", String.join(" | ", lines), verdict.anomalies()).isFalse();
        assertThat(strict && verdict.rulesOut(ConsistencyModel.STRICT_SERIALIZABLE))
            .as("%s: %s", String.join(" | ", lines), verdict.anomalies()).isFalse();
    }

    private static TxnVerdict check(final History history, final TxnWorkload workload, final TxnOptions options)
    {
        return TxnCheck.check(history, workload, ConsistencyModel.STRICT_SERIALIZABLE, options);
    }

    /** Goes round the times, and lets the outcome of the first transaction be unknown, or a failure, now and then. */
    private String[] timed(final String[] lines)
    {
        final String[] times = TIMES[histories % TIMES.length];
        final String outcome = histories % 3 == 1 ? "info " : histories % 7 == 2 ? "fail " : "";
        final String[] timed = new String[lines.length];
        for (int i = 0; i < lines.length; i++)
        {
            timed[i] = (i == 0 ? outcome : "") + times[i] + " " + lines[i].trim();
        }
        return timed;
    }

    /** Whether the last transaction read every element, so that the order of each key is known. */
    private static boolean readsAll(final String[] lines)
    {
        final String all = String.join(" ", lines);
        final long appended = all.chars().filter(c -> c == 'a').count();
        return lines[lines.length - 1].chars().filter(Character::isDigit).distinct().count() == appended;
    }

    private static List<String> transactions(final List<String> operations, final int length)
    {
        final List<String> all = new ArrayList<>(operations);
        if (length > 1)
        {
            for (final String operation : operations)
            {
                for (final String rest : transactions(operations, length - 1))
                {
                    all.add(operation + " " + rest);
                }
            }
        }
        return all;
    }

    /** Numbers the writes and gives every read every value it could conceivably have. */
    private static void fill(final String shape, final TxnWorkload workload, final Consumer<String[]> user)
    {
        final String[] words = shape.split(" ");
        final List<String> written = new ArrayList<>();
        for (int i = 0; i < words.length; i++)
        {
            if (words[i].startsWith("a") || words[i].startsWith("w"))
            {
                words[i] += written.size() + 1;
                written.add(words[i].substring(1));
            }
        }
        fillReads(words, 0, written, workload, user);
    }

    private static void fillReads(
        final String[] words,
        final int from,
        final List<String> written,
        final TxnWorkload workload,
        final Consumer<String[]> user)
    {
        int i = from;
        while (i < words.length && !words[i].startsWith("r"))
        {
            i++;
        }
        if (i == words.length)
        {
            user.accept(String.join(" ", words).split(" \\| "));
            return;
        }
        final String read = words[i];
        for (final String value : values(read.substring(1), written, workload))
        {
            words[i] = read + value;
            fillReads(words, i + 1, written, workload, user);
        }
        words[i] = read;
    }

    private static List<String> values(
        final String key, final List<String> written, final TxnWorkload workload)
    {
        final List<String> values = new ArrayList<>(List.of(""));
        for (int i = 0; i < values.size(); i++)
        {
            for (final String write : written)
            {
                final String value = write.substring(1);
                final boolean canFollow = workload == TxnWorkload.LIST_APPEND || values.get(i).isEmpty();
                if (write.startsWith(key) && canFollow && !values.get(i).contains(value))
                {
                    values.add(values.get(i) + value);
                }
            }
        }
        return values;
    }
}
