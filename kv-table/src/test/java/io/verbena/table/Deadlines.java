package io.verbena.table;

import io.verbena.elle.history.HistoryBuilder;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryCondition;
import io.verbena.table.operation.OperationKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;

/**
 * The deadlines that a {@link RaceWorkload} gives its records, each only once, and what the checker has to know of
 * them: for each one an operation "elapse" of the clock's, which begins when the clock that is most ahead passes the
 * deadline, and ends when the one that is most behind does, or when the write ends that named it, if that is later. It
 * takes away who has the deadline. So the checker finds one instant of that time at which the record goes for
 * everybody, or says that there is none.
 */
final class Deadlines
{
    /** Clocks count in these; far shorter than milliseconds, as runs are. */
    static final long UNIT_NS = 1_000;
    private static final int LONGEST_UNITS = 60;

    private final RandomGenerator random;
    private final HistoryBuilder history;
    private final IntSupplier processes;
    private final long skewNs;
    private final List<Named> named = new ArrayList<>();
    private long nowNs;
    private long lastDeadline;
    /** Deadlines that have passed for everybody. */
    private long elapsed;

    /** A node's clock that judges deadlines: it steps ahead and back, as far as it may. */
    static final class Clock
    {
        private final long mostSkewNs;
        private long skewNs;

        Clock(final long mostSkewNs)
        {
            this.mostSkewNs = mostSkewNs;
        }

        void step(final RandomGenerator random)
        {
            if (mostSkewNs > 0 && (skewNs == 0 || random.nextInt(30) == 0))
            {
                skewNs = random.nextLong(-mostSkewNs, mostSkewNs + 1);
            }
        }

        long time(final long nowNs)
        {
            return (nowNs + skewNs) / UNIT_NS;
        }
    }

    /** What a write says of its record's deadline. */
    static final class Named
    {
        /** As {@link Expiry} has it. */
        final long expiry;
        final int condition;
        private final int key;
        private int process = -1;
        private boolean isWriterDone;

        private Named(final long expiry, final int condition, final int key)
        {
            this.expiry = expiry;
            this.condition = condition;
            this.key = key;
        }

        /** The name of a function with what it says of the deadline. */
        String function(final int kind, final String name)
        {
            return kind == OperationKind.GET || kind != OperationKind.EXPIRE && expiry > 0 ? name + "-until" :
                expiry == Expiry.KEEP ? name + "-keep" : name;
        }

        /** The argument of a function with the deadline. */
        Object input(final int kind, final Object input)
        {
            if (kind == OperationKind.EXPIRE)
            {
                return Arrays.asList(expiry == 0 ? null : expiry, List.of("always", "if-none", "if-some", "later",
                    "earlier").get(condition));
            }
            if (expiry <= 0)
            {
                return input;
            }
            final List<Object> list = new ArrayList<>(input instanceof final List<?> pair ? pair : List.of(input));
            list.add(expiry);
            return list;
        }

        /** The write has ended with a result. One of unknown outcome may take effect, or not, whenever. */
        void end()
        {
            isWriterDone = true;
        }
    }

    /** @param skewNs by which no clock is further from the time of the run. */
    Deadlines(
        final RandomGenerator random, final HistoryBuilder history, final IntSupplier processes, final long skewNs)
    {
        this.random = random;
        this.history = history;
        this.processes = processes;
        this.skewNs = skewNs;
    }

    /** Draws what a write says. */
    Named draw(final int kind, final int key)
    {
        if (!OperationKind.takesExpiry(kind))
        {
            return new Named(Expiry.NONE, ExpiryCondition.ALWAYS, key);
        }
        final int choice = random.nextInt(8);
        if (kind == OperationKind.EXPIRE && choice < 2)
        {
            return new Named(Expiry.NONE, choice == 0 ? ExpiryCondition.IF_SOME : ExpiryCondition.ALWAYS, key);
        }
        if (kind != OperationKind.EXPIRE && choice < 3)
        {
            return new Named(choice == 0 || kind == OperationKind.PUT_IF_ABSENT ? Expiry.NONE : Expiry.KEEP,
                ExpiryCondition.ALWAYS, key);
        }
        // Later than the clock that is most ahead says.
        lastDeadline = Math.max(lastDeadline + 1,
            (nowNs + 2 * skewNs) / UNIT_NS + 2 + random.nextInt(LONGEST_UNITS));
        final Named drawn = new Named(lastDeadline,
            kind == OperationKind.EXPIRE ? random.nextInt(ExpiryCondition.COUNT) : ExpiryCondition.ALWAYS, key);
        named.add(drawn);
        return drawn;
    }

    /** Before anything else happens at a time. */
    void tick(final long newNowNs)
    {
        nowNs = newNowNs;
        for (int i = named.size() - 1; i >= 0; i--)
        {
            final Named deadline = named.get(i);
            final long passesAtNs = deadline.expiry * UNIT_NS;
            if (deadline.process < 0 && nowNs >= passesAtNs - skewNs)
            {
                deadline.process = processes.getAsInt();
                history.invoke(deadline.process, "elapse", deadline.key, deadline.expiry);
            }
            if (deadline.process >= 0 && deadline.isWriterDone && nowNs >= passesAtNs + skewNs)
            {
                history.ok(deadline.process, null);
                elapsed++;
                named.remove(i);
            }
        }
    }

    long elapsed()
    {
        return elapsed;
    }
}
