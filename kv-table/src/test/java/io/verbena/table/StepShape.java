package io.verbena.table;

import java.util.Random;

/** What a run may contain; drawn from its seed unless a test says otherwise. */
final class StepShape
{
    int engines;
    int clients;
    int keys;
    int operations;
    int blocks;
    int deadWords;
    boolean faults;
    boolean fences;
    boolean shortDeadlines;
    boolean groups;
    boolean repeats;
    boolean repeatsLost;
    /** Epochs pass so fast that cached locations are mostly hints. */
    boolean expires;
    int cacheEntries;
    /** Judged by {@link Symptoms} only: where the checker cannot decide, or not soon. */
    boolean isJudgedByRulesOnly;
    int pauseOneIn;
    /** One turn of a node in so many begins a split; 0: none does. */
    int splitOneIn;
    /** Of so many splits that could begin one is a merge instead; 0: none is. */
    int mergeOneIn;
    /** The connection of whoever has proposed a merge breaks while it decides it. */
    boolean leavesProposals;
    /** By which no clock that judges deadlines is further from the time of the run; -1: records have no deadlines. */
    long skewNs = -1;
    /** One turn of a node in so many begins to sweep a subtable; 0: none does. */
    int sweepOneIn;
    int[] kinds = {0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6};

    static StepShape of(final long seed)
    {
        final Random random = new Random(seed * 31 + 7);
        final StepShape shape = new StepShape();
        shape.engines = 2 + random.nextInt(2);
        shape.clients = 1 + random.nextInt(2);
        shape.keys = 1 + random.nextInt(3);
        shape.operations = 60;
        shape.blocks = 6 + random.nextInt(8);
        shape.deadWords = random.nextInt(3) == 0 ? 16 + random.nextInt(6) : random.nextInt(3);
        shape.faults = random.nextInt(3) == 0;
        shape.fences = random.nextInt(4) == 0;
        shape.shortDeadlines = random.nextInt(3) == 0;
        shape.cacheEntries = random.nextInt(5) == 0 ? 0 : 64;
        shape.pauseOneIn = random.nextBoolean() ? 400 : 4000;
        shape.kinds = switch (random.nextInt(3))
        {
            case 0 -> shape.kinds;
            case 1 -> new int[]{0, 0, 1, 2, 3, 4, 5, 6, 8, 8, 8, 9};
            default -> new int[]{0, 0, 2, 3, 4, 5, 6, 7, 7, 7, 7, 9};
        };
        shape.groups = random.nextInt(3) == 0;
        shape.clients += shape.groups ? 2 : 0;
        shape.expires = seed % 4 == 0;
        return shape;
    }

    /** Subtables that are split all the time, under operations that go on. */
    static StepShape splitting(final long seed)
    {
        final StepShape shape = seed % 3 == 0 ? repeating(seed) : of(seed);
        final Random random = new Random(seed * 13 + 5);
        shape.operations = 100;
        shape.keys = 1 + random.nextInt(4);
        shape.splitOneIn = 2 << random.nextInt(5);
        return shape;
    }

    /** Subtables that are split and merged all the time. */
    static StepShape merging(final long seed)
    {
        final StepShape shape = splitting(seed);
        final Random random = new Random(seed * 19 + 11);
        shape.keys = 1 + random.nextInt(6);
        shape.mergeOneIn = 1 + random.nextInt(3);
        shape.splitOneIn = 2 << random.nextInt(4);
        return shape;
    }

    /** As {@link #merging}, and proposals are left by who made them. */
    static StepShape proposing(final long seed)
    {
        final StepShape shape = merging(seed);
        shape.keys = 1 + (int)(seed % 2);
        shape.splitOneIn = 2;
        shape.operations = 200;
        shape.leavesProposals = true;
        return shape;
    }

    /** Connections that break often, and operations of unknown outcome that are begun again. */
    static StepShape repeating(final long seed)
    {
        final StepShape shape = of(seed);
        final Random random = new Random(seed * 17 + 3);
        shape.repeats = random.nextInt(4) > 0;
        shape.repeatsLost = !shape.repeats || random.nextInt(3) == 0;
        shape.faults = false;
        shape.shortDeadlines = random.nextBoolean();
        shape.deadWords = 0;
        shape.blocks = 60;
        return shape;
    }

    /** Records that live until a deadline, while clocks differ and step; every other run has another shape, too. */
    static StepShape expiring(final long seed)
    {
        final Random random = new Random(seed * 29 + 13);
        final StepShape shape = switch ((int)(seed % 6))
        {
            case 0 -> repeating(seed);
            case 1 -> merging(seed);
            case 2 -> combining(seed);
            default -> of(seed);
        };
        shape.skewNs = random.nextInt(4) == 0 ? 0 : random.nextInt(20_000);
        shape.keys = 1 + random.nextInt(3);
        // Where many overlap, whose outcomes may be unknown, the checker does not decide longer histories.
        shape.operations = shape.clients > 2 ? 60 : 100;
        shape.blocks += 8;
        shape.kinds = switch (random.nextInt(4))
        {
            case 0 -> new int[]{0, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 10};
            case 1 -> new int[]{0, 0, 2, 3, 4, 5, 7, 7, 7, 9, 10, 10};
            case 2 -> new int[]{0, 0, 1, 2, 3, 3, 4, 5, 6, 9, 10};
            default -> new int[]{0, 0, 0, 1, 2, 3, 10};
        };
        shape.sweepOneIn = random.nextInt(4) == 0 ? 0 : 1 << random.nextInt(3);
        return shape;
    }

    /** Many clients of few engines on one key or two, in every third seed while subtables are split and merged. */
    static StepShape combining(final long seed)
    {
        final Random random = new Random(seed * 23 + 1);
        final StepShape shape = switch ((int)(seed % 3))
        {
            case 0 -> merging(seed);
            case 1 -> repeating(seed);
            default -> of(seed);
        };
        shape.engines = 2;
        shape.clients = 3 + random.nextInt(3);
        shape.keys = 1 + random.nextInt(2);
        shape.operations = 120;
        shape.shortDeadlines = random.nextBoolean();
        shape.kinds = switch (random.nextInt(6))
        {
            case 0 -> new int[]{0, 2, 3, 3, 5, 5, 5};
            case 1 -> new int[]{0, 2, 4, 4, 4, 6, 6};
            case 2 -> new int[]{0, 2, 3, 5, 8, 8, 9, 9};
            // Each one of unknown outcome doubles what the checker has to think of, until a value is seen.
            case 3 -> new int[]{0, 0, 0, 2, 2, 5, 8, 8, 8, 8};
            case 4 -> new int[]{0, 0, 2, 3, 5, 7, 7, 7, 7};
            default -> new int[]{0, 2, 3, 4, 5, 6, 7, 9, 9};
        };
        return shape;
    }
}
