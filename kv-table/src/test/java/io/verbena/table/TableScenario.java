package io.verbena.table;

import io.verbena.elle.Validity;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.rdma.sim.SimActor;
import io.verbena.rdma.sim.SimDevice;
import io.verbena.rdma.sim.SimExploration;
import io.verbena.rdma.sim.SimExplorer;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A few operations on one key, one engine each, over simulated queue pairs of their own. Judged by the history that the
 * clients saw, with a last GET, and by the words in the table.
 */
final class TableScenario implements SimExplorer.Scenario
{
    private static final int NODE = 3;
    private static final long HASH_SEED = 42;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_BYTES = 1024;
    private static final int CHUNKS_AT = 8192;
    private static final int REGION_BYTES = 1 << 14;
    private static final int SUBTABLES_AT = CHUNKS_AT + 5 * CHUNK_BYTES;
    private static final int PREPARER = 0;
    /** In the place of an operation: the first engine is taken for ended, cut off, and its chunk taken back. */
    static final int FENCE = -1;
    /** In the place of an operation: the chunk of an engine that had ended before is taken back. */
    static final int RECLAIM = -2;
    /** In the place of an operation: as {@link #FENCE}, but the engine is cut off last. */
    static final int LATE_FENCE = -3;
    /** In the place of an operation: the subtable is split. */
    static final int SPLIT = -4;
    /** In the place of an operation: the key's subtable is merged with its sibling. */
    static final int MERGE = -5;
    /** The same, where somebody has frozen all slots before, and initialised all but a few. */
    static final int MERGE_PLACING = -6;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final LinearChecker<?> CHECKER =
        new LinearChecker<>(Models.versionedKvMap(), LinearOptions.defaults().withThreads(1));

    /**
     * What races.
     *
     * @param kinds     operation of each engine.
     * @param isPresent whether the key is there before.
     * @param isCached  whether each engine knows its location.
     * @param guards    dropped.
     * @param isMoving  whether a split has begun before, and moved all slots but a few.
     * @param combined  operations of its kind that each engine begins together, 1 or more: from the third on a batch.
     * @param combinerGuards dropped as well.
     * @param isExpired whether locations were cached two epochs ago.
     */
    record Race(
        int[] kinds,
        boolean isPresent,
        boolean isCached,
        int guards,
        boolean isMoving,
        int combined,
        int combinerGuards,
        boolean isExpired)
    {
        /** States to begin in. */
        static final int STATES = 4;

        Race(final int[] kinds, final boolean isPresent, final boolean isCached, final int guards)
        {
            this(kinds, isPresent, isCached, guards, false);
        }

        Race(
            final int[] kinds,
            final boolean isPresent,
            final boolean isCached,
            final int guards,
            final boolean isMoving)
        {
            this(kinds, isPresent, isCached, guards, isMoving, 1, 0);
        }

        Race(
            final int[] kinds,
            final boolean isPresent,
            final boolean isCached,
            final int guards,
            final boolean isMoving,
            final int combined,
            final int combinerGuards)
        {
            this(kinds, isPresent, isCached, guards, isMoving, combined, combinerGuards, false);
        }

        /** @param state absent, present, cached, cached two epochs ago. */
        static Race of(final int[] kinds, final int state, final int guards)
        {
            return new Race(kinds, state > 0, state > 1, guards, false, 1, 0, state > 2);
        }

        boolean merges()
        {
            return Arrays.stream(kinds).anyMatch(kind -> kind == MERGE || kind == MERGE_PLACING);
        }

        @Override
        public String toString()
        {
            return Arrays.stream(kinds).mapToObj(Race::name).toList() +
                (isPresent ? " present" : " absent") + (isCached ? " cached" : " cold") +
                (isExpired ? " long ago" : "") + (isMoving ? " moving" : "") +
                (combined > 1 ? " " + combined + " each" : "");
        }

        private static String name(final int kind)
        {
            return switch (kind)
            {
                case FENCE -> "fence";
                case RECLAIM -> "reclaim";
                case LATE_FENCE -> "late fence";
                case SPLIT -> "split";
                case MERGE -> "merge";
                case MERGE_PLACING -> "merge placing";
                default -> OperationKind.name(kind);
            };
        }
    }

    /** An engine with one operation. */
    private final class EngineActor implements SimActor
    {
        private final int index;
        private TableEngine engine;
        private SimQueuePairPort port;
        private OpenTable table;
        private TableSplit split;
        private TableMerge merge;

        private EngineActor(final int index)
        {
            this.index = index;
        }

        @Override
        public int doWork()
        {
            return port.poll(engine) + engine.poll();
        }

        @Override
        public boolean isDone()
        {
            return engine.active() == 0 && (split == null || split.isFinished()) &&
                (merge == null || merge.isFinished());
        }

        @Override
        public long stateHash()
        {
            return byState && !splits() ? outcomesHash(index) * 31 + (isDone() ? 1 : EngineState.of(engine)) << 1 | 1 :
                HISTORY;
        }

        @Override
        public String roleName()
        {
            return "engine-" + index;
        }
    }

    private final Race race;
    private final Map<String, String> verdicts;
    private final int depth;
    private final EngineActor[] actors;
    private final SimDevice[] devices;
    private final String[] outcomes;
    private final Object[] outputs;
    private final EventType[] types;
    private final TablePlan plan;
    private MemorySegment key = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5, 6, 7, 8});
    /** Dropped as well. */
    int mergeGuards;
    /** Engines are told apart by what they are, not by what they saw; those of splits by what they saw always. */
    boolean byState = true;
    private UnsafeBuffer memory;
    private PreparedSubtables subtables;
    private long initialVersion;
    private boolean isClosing;

    /**
     * @param race     what races.
     * @param verdicts by outcome, kept over the runs of a race.
     */
    TableScenario(final Race race, final Map<String, String> verdicts)
    {
        this(race, verdicts, race.merges() ? 1 : 0);
    }

    /** @param depth of the table; where it is no merge, another key of the raced one's buckets is there from 1 on. */
    TableScenario(final Race race, final Map<String, String> verdicts, final int depth)
    {
        this.race = race;
        this.verdicts = verdicts;
        this.depth = depth;
        plan = TablePlan.ofShape("schedule", 7, HASH_SEED, depth, 1, new int[]{NODE});
        final int count = race.kinds.length + 1;
        actors = new EngineActor[count];
        devices = new SimDevice[count];
        outcomes = new String[count * race.combined];
        outputs = new Object[count * race.combined];
        types = new EventType[count * race.combined];
    }

    @Override
    public void prepare(final SimExploration run)
    {
        final SimDevice memoryNode = run.addDevice("memory");
        final ProtectionDomain memoryDomain = memoryNode.allocateProtectionDomain();
        final MemoryRegion region = memoryDomain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        memory = new UnsafeBuffer(region.segment().address(), REGION_BYTES);
        subtables = new PreparedSubtables(memory, HASH_SEED);
        for (int suffix = 0; suffix < plan.subtableCount(); suffix++)
        {
            plan.place(NODE, subtableAt(suffix));
            subtables.format(subtableAt(suffix), suffix, depth, SlotWord.EMPTY);
        }
        for (int i = 0; i < actors.length; i++)
        {
            if (isEngine(i))
            {
                addActor(run, i, memoryNode, memoryDomain, region);
            }
            else
            {
                addReaper(run, i, memoryNode, memoryDomain, region);
            }
        }
        prepareKey(run);
        for (int i = 1; i < actors.length; i++)
        {
            if (isEngine(i))
            {
                for (int n = 0; n < race.combined; n++)
                {
                    begin(i, race.kinds[i - 1], operation(i, n));
                }
            }
        }
    }

    private void prepareKey(final SimExploration run)
    {
        if (depth > 0)
        {
            // Merged: in the slot of the sibling that the key has, so that the key's word has to go to another one.
            key = subtables.keyOf(0, depth, 0);
            begin(PREPARER, OperationKind.PUT);
            run.finish(actors[PREPARER]);
            key = race.merges() ? subtables.keyOf(1, depth, 0) : subtables.keyOf(0, depth, 1);
        }
        if (race.isPresent)
        {
            begin(PREPARER, OperationKind.PUT);
            run.finish(actors[PREPARER]);
            initialVersion = (Long)outputs[PREPARER];
        }
        for (int i = 1; race.isCached && i < actors.length; i++)
        {
            if (isEngine(i))
            {
                begin(i, OperationKind.GET);
                run.finish(actors[i]);
            }
        }
        if (race.isMoving && race.merges())
        {
            final boolean isPlacing = Arrays.stream(race.kinds).anyMatch(kind -> kind == MERGE_PLACING);
            subtables.mergeMostSlots(subtableAt(0), subtableAt(1), SUBTABLES_AT, isPlacing);
        }
        else if (race.isMoving)
        {
            subtables.moveMostSlots(TABLE_AT, SUBTABLES_AT, SUBTABLES_AT + (int)plan.subtableBytes(), depth);
        }
        for (int i = 0; race.isExpired && i < actors.length; i++)
        {
            if (isEngine(i))
            {
                actors[i].engine.onEpoch(actors[i].engine.epoch() + 2, 0);
            }
        }
    }

    private long outcomesHash(final int engine)
    {
        long hash = 0;
        for (int n = 0; n < race.combined; n++)
        {
            hash = hash * 0x9E37_79B9_7F4A_7C15L + Objects.hashCode(outcomes[operation(engine, n)]);
        }
        return hash;
    }

    /** Number of the n-th operation of an engine, from 0. */
    private int operation(final int engine, final int n)
    {
        return engine * race.combined + n;
    }

    /** Not a reaper. */
    private boolean isEngine(final int i)
    {
        return i == PREPARER || race.kinds[i - 1] >= 0 || race.kinds[i - 1] <= SPLIT;
    }

    private boolean isClient(final int i)
    {
        return isEngine(i) && race.kinds[i - 1] > SPLIT;
    }

    private int subtableAt(final int suffix)
    {
        return TABLE_AT + suffix * (int)plan.subtableBytes();
    }

    private void addReaper(
        final SimExploration run,
        final int i,
        final SimDevice memoryNode,
        final ProtectionDomain memoryDomain,
        final MemoryRegion region)
    {
        final int kind = race.kinds[i - 1];
        final SimDevice device = run.addDevice("reaper");
        final ProtectionDomain domain = device.allocateProtectionDomain();
        final int victim = kind == RECLAIM ? PREPARER : 1;
        if (kind == RECLAIM)
        {
            leaveTentativeWord();
        }
        run.addActor(device, new ReaperActor(device, domain,
            new SimQueuePairPort(run.fabric(), device, domain, memoryNode, memoryDomain, region),
            kind == RECLAIM ? () -> { } : () -> actors[victim].port.cutOff(), kind != LATE_FENCE,
            () -> haveEnded(victim),
            TABLE_AT + SubtableDescriptor.GROUPS_OFFSET, CHUNKS_AT + victim * CHUNK_BYTES, CHUNK_BYTES), false);
    }

    /** What epochs are for: the operations of all others, begun before, are over. */
    private boolean haveEnded(final int victim)
    {
        for (int i = 1; i < actors.length; i++)
        {
            if (i != victim && isEngine(i) && actors[i].engine.active() > 0 && !devices[i].isKilled())
            {
                return false;
            }
        }
        return true;
    }

    /** As an insert of the key leaves it that died after its first step. */
    private void leaveTentativeWord()
    {
        final KeyHash hash = new KeyHash();
        try (Arena arena = Arena.ofConfined())
        {
            hash.compute(KeyHash.function(HASH_SEED), arena.allocate(key.byteSize()).copyFrom(key));
        }
        memory.putLong(TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.OVERFLOW_OFFSET +
            BucketDescriptor.SLOTS_OFFSET, SlotWord.withKind(SlotWord.committed(KeyHash.fingerprint(hash.high()),
            KeyHash.window(hash.high(), 0), 9, 1, CHUNKS_AT + CHUNK_BYTES / 2), SlotWord.KIND_TENTATIVE),
            LITTLE_ENDIAN);
    }

    private void addActor(
        final SimExploration run,
        final int i,
        final SimDevice memoryNode,
        final ProtectionDomain memoryDomain,
        final MemoryRegion region)
    {
        final SimDevice device = run.addDevice("engine-" + i);
        final ProtectionDomain domain = device.allocateProtectionDomain();
        final EngineActor actor = new EngineActor(i);
        actors[i] = actor;
        devices[i] = device;
        run.addActor(device, actor, i != PREPARER);
        actor.engine = TableEngine.open(domain, device.attributes(), device.clock(),
            new TableEngineConfiguration().operationSlots(race.combined).writerNumber(i + 1).locationCacheEntries(4)
                .versionClock(() -> 1L << 50).operationListener(op -> note((int)op.correlationId(), op))
                .chunkSource(node -> { }).dropMergeGuards(mergeGuards).dropGuards(race.guards)
                .dropCombinerGuards(race.combinerGuards));
        actor.port = new SimQueuePairPort(run.fabric(), device, domain, memoryNode, memoryDomain, region);
        actor.engine.attach(NODE, actor.port);
        actor.engine.chunkLeased(NODE, CHUNKS_AT + (long)i * CHUNK_BYTES, CHUNK_BYTES);
        actor.table = actor.engine.openTable(plan.descriptor());
    }

    private void note(final int i, final Operation op)
    {
        if (isClosing)
        {
            return;
        }
        types[i] = switch (op.result())
        {
            case OperationResult.NOT_A_COUNTER, OperationResult.NODE_UNAVAILABLE -> EventType.FAIL;
            case OperationResult.OUTCOME_UNKNOWN -> EventType.INFO;
            default -> EventType.OK;
        };
        outputs[i] = switch (op.result())
        {
            case OperationResult.FOUND -> op.kind() == OperationKind.EXISTS ?
                true : Arrays.asList(ClientView.value(op), op.version());
            case OperationResult.NOT_FOUND -> switch (op.kind())
            {
                case OperationKind.GET -> null;
                case OperationKind.EXISTS, OperationKind.DELETE -> false;
                default -> Arrays.asList(false, null);
            };
            case OperationResult.STORED -> op.kind() == OperationKind.INCREMENT ?
                List.of(op.counter(), op.version()) : op.version();
            case OperationResult.NOT_A_COUNTER, OperationResult.NODE_UNAVAILABLE, OperationResult.OUTCOME_UNKNOWN ->
                null;
            case OperationResult.DELETED -> true;
            case OperationResult.EXISTS, OperationResult.VERSION_MISMATCH -> Arrays.asList(false, op.version());
            default -> throw new AssertionError(OperationResult.name(op.result()));
        };
        outcomes[i] = OperationResult.name(op.result()) + outputs[i];
    }

    private void begin(final int i, final int kind)
    {
        begin(i, kind, operation(i, 0));
    }

    private void begin(final int i, final int kind, final int operation)
    {
        outcomes[operation] = null;
        types[operation] = EventType.INFO;
        final long deadlineNs = NEVER_NS;
        final TableEngine engine = actors[i].engine;
        if (kind == SPLIT)
        {
            final long offset = SUBTABLES_AT + 2L * i * plan.subtableBytes();
            actors[i].split =
                engine.splits().begin(actors[i].table, 0, offset, offset + plan.subtableBytes(), NEVER_NS);
            return;
        }
        if (kind == MERGE || kind == MERGE_PLACING)
        {
            actors[i].merge = engine.splits().beginMerge(
                actors[i].table, 1, SUBTABLES_AT + 2L * i * plan.subtableBytes(), NEVER_NS);
            return;
        }
        if (kind == OperationKind.INCREMENT)
        {
            engine.beginIncrement(actors[i].table, key, 0, 8, ClientView.delta(operation), deadlineNs, operation);
        }
        else if (OperationKind.storesValue(kind))
        {
            final MemorySegment value = MemorySegment.ofArray(new long[]{100 + operation, 100 + operation});
            engine.begin(kind, actors[i].table, key, 0, 8, value, 0, kind == OperationKind.APPEND ? 16 : 8,
                initialVersion, deadlineNs, operation);
        }
        else
        {
            engine.begin(kind, actors[i].table, key, 0, 8, initialVersion, deadlineNs, operation);
        }
    }

    @Override
    public void close()
    {
        isClosing = true;
        for (final EngineActor actor : actors)
        {
            if (actor != null)
            {
                actor.engine.close();
            }
        }
    }

    @Override
    public String verdict(final SimExploration run)
    {
        begin(PREPARER, OperationKind.GET);
        run.finish(actors[PREPARER]);
        final String problem = splits() ? problemOfSplit() : problemOfWords();
        if (problem != null)
        {
            return race + ": " + problem;
        }
        final String verdict = verdicts.computeIfAbsent(Arrays.toString(outcomes), outcome -> judge());
        return verdict.isEmpty() ? null : verdict;
    }

    private boolean splits()
    {
        return race.isMoving || Arrays.stream(race.kinds).anyMatch(kind -> kind <= SPLIT);
    }

    private String problemOfWords()
    {
        int committed = 0;
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + slot / 7 * BucketDescriptor.BUCKET_BYTES +
                BucketDescriptor.SLOTS_OFFSET + slot % 7 * BucketDescriptor.SLOT_BYTES;
            committed += SlotWord.isCommitted(memory.getLong(at, LITTLE_ENDIAN)) ? 1 : 0;
        }
        return committed > 1 ? "two committed words of one key" : null;
    }

    private String problemOfSplit()
    {
        for (final EngineActor actor : actors)
        {
            if (actor.split != null && actor.split.state() == TableSplit.State.FAILED)
            {
                return actor.split.toString();
            }
            if (actor.merge != null && actor.merge.state() == TableMerge.State.FAILED)
            {
                return actor.merge.toString();
            }
        }
        final TableCheck check = new TableChecker(plan.descriptor(),
            (node, offset, target, lengthBytes) -> target.putBytes(0, memory, (int)offset, lengthBytes)).check();
        return check.isSound() ? null : check.toString();
    }

    private String judge()
    {
        final HistoryBuilder history = new HistoryBuilder(race.toString());
        if (race.isPresent)
        {
            history.invoke(PREPARER, "put", 0, 100L).ok(PREPARER, initialVersion);
        }
        for (int i = race.combined; i < outcomes.length; i++)
        {
            if (isClient(i / race.combined))
            {
                history.invoke(i, ClientView.function(race.kinds[i / race.combined - 1]), 0, input(i));
            }
        }
        for (int i = race.combined; i < outcomes.length; i++)
        {
            if (isClient(i / race.combined))
            {
                history.complete(i, types[i], types[i] == EventType.OK ? outputs[i] : null);
            }
        }
        history.invoke(PREPARER, "get", 0, null).ok(PREPARER, outputs[PREPARER]);
        final LinearVerdict verdict = CHECKER.check(history.build());
        return verdict.validity() == Validity.VALID ? "" : verdict.explanation();
    }

    private Object input(final int i)
    {
        return switch (race.kinds[i / race.combined - 1])
        {
            case OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.PUT_IF_PRESENT,
                OperationKind.APPEND -> 100L + i;
            case OperationKind.INCREMENT -> ClientView.delta(i);
            case OperationKind.REPLACE -> List.of(initialVersion, 100L + i);
            case OperationKind.DELETE_VERSION -> initialVersion;
            default -> null;
        };
    }
}
