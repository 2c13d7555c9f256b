package io.verbena.table;

import io.verbena.elle.Validity;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * One schedule of a few operations on one key, one engine each, request by request. The schedule is a list of choices;
 * the run tells how many there were at each point, so that a search can walk through all of them.
 */
final class ScheduleRun implements AutoCloseable
{
    private static final int NODE = 3;
    private static final long HASH_SEED = 42;
    private static final int TABLE_AT = 4096;
    private static final int REGION_BYTES = 1 << 16;
    private static final int MAX_STEPS = 400;
    private static final int PREPARER = 0;
    private static final LinearChecker<?> CHECKER =
        new LinearChecker<>(Models.versionedKvMap(), LinearOptions.defaults().withThreads(1));

    /**
     * What races.
     *
     * @param kinds     operation of each engine.
     * @param isPresent whether the key is there before.
     * @param isCached  whether each engine knows its location.
     * @param maxChoices choices after which no more are taken: engines run one after the other to their ends.
     * @param dies      number of the engine that may stop for ever at any point, or -1.
     * @param guards    dropped.
     */
    record Race(int[] kinds, boolean isPresent, boolean isCached, int maxChoices, int dies, int guards)
    {
        @Override
        public String toString()
        {
            return Arrays.stream(kinds).mapToObj(OperationKind::name).toList() +
                (isPresent ? " present" : " absent") + (isCached ? " cached" : " cold") +
                (dies >= 0 ? " dies=" + dies : "");
        }
    }

    private final Race race;
    private final Map<String, String> verdicts;
    private final StepFabric fabric = new StepFabric(1);
    private final UnsafeBuffer memory;
    private final TableEngine[] engines;
    private final StepFabric.StepPort[] ports;
    private final OpenTable[] tables;
    private final String[] outcomes;
    private final Object[] outputs;
    private final EventType[] types;
    private final TablePlan plan = TablePlan.ofShape("schedule", 7, HASH_SEED, 0, 1, new int[]{NODE});
    private final MemorySegment key = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5, 6, 7, 8});
    private long nowNs = 1;
    private long initialVersion;
    int[] options = new int[MAX_STEPS];
    int choices;
    boolean wasCutShort;
    private boolean isClosing;

    ScheduleRun(final Race race, final Map<String, String> verdicts)
    {
        this.race = race;
        this.verdicts = verdicts;
        fabric.inOrder = true;
        fabric.tearing = false;
        memory = fabric.addMemory(NODE, REGION_BYTES);
        plan.place(NODE, TABLE_AT);
        SubtableDescriptor.write(memory, TABLE_AT, 7, 0, 0, 1, HASH_SEED);
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            memory.putLong(TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES,
                BucketDescriptor.header(7, 0, 0), LITTLE_ENDIAN);
        }
        final int count = race.kinds.length + 1;
        engines = new TableEngine[count];
        ports = new StepFabric.StepPort[count];
        tables = new OpenTable[count];
        outcomes = new String[count];
        outputs = new Object[count];
        types = new EventType[count];
        for (int i = 0; i < count; i++)
        {
            addEngine(i);
        }
    }

    private void addEngine(final int i)
    {
        engines[i] = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
            new TableEngineConfiguration().operationSlots(1).writerNumber(i + 1).locationCacheEntries(4)
                .versionClock(() -> 1L << 50).operationListener(op -> note(i, op)).chunkSource(node -> { })
                .dropGuards(race.guards));
        ports[i] = fabric.connect(NODE, engines[i]::onBatchComplete);
        engines[i].attach(NODE, ports[i]);
        engines[i].chunkLeased(NODE, (i + 1) * 8192L, 4096);
        tables[i] = engines[i].openTable(plan.descriptor());
    }

    private void note(final int i, final Operation op)
    {
        if (isClosing)
        {
            return;
        }
        types[i] = op.result() == OperationResult.NOT_A_COUNTER ? EventType.FAIL : EventType.OK;
        outputs[i] = switch (op.result())
        {
            case OperationResult.FOUND -> op.kind() == OperationKind.EXISTS ?
                true : Arrays.asList(valueOf(op), op.version());
            case OperationResult.NOT_FOUND -> switch (op.kind())
            {
                case OperationKind.GET -> null;
                case OperationKind.EXISTS, OperationKind.DELETE -> false;
                default -> Arrays.asList(false, null);
            };
            case OperationResult.STORED -> op.kind() == OperationKind.INCREMENT ?
                List.of(op.counter(), op.version()) : op.version();
            case OperationResult.NOT_A_COUNTER -> null;
            case OperationResult.DELETED -> true;
            case OperationResult.EXISTS, OperationResult.VERSION_MISMATCH -> Arrays.asList(false, op.version());
            default -> throw new AssertionError(OperationResult.name(op.result()));
        };
        outcomes[i] = OperationResult.name(op.result()) + outputs[i];
    }

    /** One word, or a list: a first word if there is one, and what was appended, which is two words each time. */
    private static Object valueOf(final Operation op)
    {
        final long[] words = new long[op.valueLength() / Long.BYTES];
        op.copyValueTo(MemorySegment.ofArray(words), 0);
        if (words.length == 1)
        {
            return words[0];
        }
        final List<Object> list = new ArrayList<>();
        for (int i = words.length - 1; i >= 0; i -= 2)
        {
            list.addFirst(words[i]);
        }
        return list;
    }

    private void begin(final int i, final int kind)
    {
        outcomes[i] = null;
        types[i] = EventType.INFO;
        final long deadlineNs = Long.MAX_VALUE / 2;
        if (kind == OperationKind.INCREMENT)
        {
            engines[i].beginIncrement(tables[i], key, 0, 8, 1000L * i, deadlineNs, 0);
        }
        else if (OperationKind.storesValue(kind))
        {
            final MemorySegment value = MemorySegment.ofArray(new long[]{100 + i, 100 + i});
            engines[i].begin(kind, tables[i], key, 0, 8, value, 0, kind == OperationKind.APPEND ? 16 : 8,
                initialVersion, deadlineNs, 0);
        }
        else
        {
            engines[i].begin(kind, tables[i], key, 0, 8, initialVersion, deadlineNs, 0);
        }
    }

    /** @return false when the engine has nothing more to do. */
    private boolean advance(final int i)
    {
        final boolean advanced = ports[i].advance();
        // Pauses are over at once: the search decides who is slow.
        nowNs += 1_000_000_000L;
        engines[i].poll();
        return advanced || engines[i].active() > 0;
    }

    private boolean isActive(final int i)
    {
        return engines[i].active() > 0;
    }

    private void finish(final int i)
    {
        int steps = 0;
        while (isActive(i))
        {
            advance(i);
            if (++steps > MAX_STEPS)
            {
                throw new AssertionError("an operation that runs alone does not end: " + race + " " + engines[i]);
            }
        }
    }

    /** @return null when all is well, else what is wrong. */
    String run(final int[] schedule, final int length)
    {
        if (race.isPresent)
        {
            begin(PREPARER, OperationKind.PUT);
            finish(PREPARER);
            initialVersion = (Long)outputs[PREPARER];
        }
        for (int i = 1; race.isCached && i < engines.length; i++)
        {
            begin(i, OperationKind.GET);
            finish(i);
        }
        for (int i = 1; i < engines.length; i++)
        {
            begin(i, race.kinds[i - 1]);
        }
        final boolean[] dead = new boolean[engines.length];
        interleave(schedule, length, dead);
        for (int i = 1; i < engines.length; i++)
        {
            if (!dead[i])
            {
                finish(i);
            }
        }
        begin(PREPARER, OperationKind.GET);
        finish(PREPARER);
        return verdict();
    }

    private void interleave(final int[] schedule, final int length, final boolean[] dead)
    {
        while (true)
        {
            final int[] runnable = new int[engines.length + 1];
            int count = 0;
            for (int i = 1; i < engines.length; i++)
            {
                if (isActive(i) && !dead[i])
                {
                    runnable[count++] = i;
                }
            }
            if (race.dies >= 0 && !dead[race.dies] && isActive(race.dies))
            {
                runnable[count++] = -race.dies;
            }
            if (count == 0)
            {
                return;
            }
            if (choices == race.maxChoices)
            {
                wasCutShort = true;
                return;
            }
            options[choices] = count;
            final int choice = choices < length ? schedule[choices] : 0;
            choices++;
            if (runnable[choice] < 0)
            {
                dead[race.dies] = true;
            }
            else
            {
                advance(runnable[choice]);
            }
        }
    }

    @Override
    public void close()
    {
        isClosing = true;
        for (int i = 0; i < engines.length; i++)
        {
            ports[i].fail(false);
            engines[i].close();
        }
        fabric.close();
    }

    private String verdict()
    {
        int committed = 0;
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + slot / 7 * BucketDescriptor.BUCKET_BYTES +
                BucketDescriptor.SLOTS_OFFSET + slot % 7 * BucketDescriptor.SLOT_BYTES;
            committed += SlotWord.isCommitted(memory.getLong(at, LITTLE_ENDIAN)) ? 1 : 0;
        }
        if (committed > 1)
        {
            return race + ": two committed words of one key";
        }
        return verdicts.computeIfAbsent(Arrays.toString(outcomes), outcome -> judge());
    }

    private String judge()
    {
        final HistoryBuilder history = new HistoryBuilder(race.toString());
        if (race.isPresent)
        {
            history.invoke(PREPARER, "put", 0, 100L).ok(PREPARER, initialVersion);
        }
        for (int i = 1; i < engines.length; i++)
        {
            history.invoke(i, function(race.kinds[i - 1]), 0, input(i));
        }
        for (int i = 1; i < engines.length; i++)
        {
            history.complete(i, types[i], types[i] == EventType.OK ? outputs[i] : null);
        }
        history.invoke(PREPARER, "get", 0, null).ok(PREPARER, outputs[PREPARER]);
        final LinearVerdict verdict = CHECKER.check(history.build());
        return verdict.validity() == Validity.VALID ? "" : verdict.explanation();
    }

    private static String function(final int kind)
    {
        return List.of("get", "exists", "put", "put-if-absent", "replace", "delete", "delete-version", "increment",
            "append", "put-if-present").get(kind);
    }

    private Object input(final int i)
    {
        return switch (race.kinds[i - 1])
        {
            case OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_PRESENT,
                OperationKind.APPEND -> 100L + i;
            case OperationKind.INCREMENT -> 1000L * i;
            case OperationKind.REPLACE -> List.of(initialVersion, 100L + i);
            case OperationKind.DELETE_VERSION -> initialVersion;
            default -> null;
        };
    }

    /** Schedules of a race, all of them. */
    static final class Search
    {
        private static final int[] NOTHING = new int[MAX_STEPS];

        final Race race;
        private final Map<String, String> verdicts = new HashMap<>();
        long schedules;
        long cutShort;

        Search(final Race race)
        {
            this.race = race;
        }

        /** @return null when all is well in each schedule, else what is wrong in one. */
        String all()
        {
            final int[] schedule = NOTHING.clone();
            int length = 0;
            while (true)
            {
                try (ScheduleRun run = new ScheduleRun(race, verdicts))
                {
                    final String wrong = run.run(schedule, length);
                    schedules++;
                    cutShort += run.wasCutShort ? 1 : 0;
                    if (wrong != null && !wrong.isEmpty())
                    {
                        return wrong + " schedule=" + Arrays.toString(Arrays.copyOf(schedule, run.choices));
                    }
                    length = run.choices;
                    while (length > 0 && schedule[length - 1] + 1 >= run.options[length - 1])
                    {
                        schedule[--length] = 0;
                    }
                }
                if (length == 0)
                {
                    return null;
                }
                schedule[length - 1]++;
            }
        }

        int outcomes()
        {
            return verdicts.size();
        }
    }
}
