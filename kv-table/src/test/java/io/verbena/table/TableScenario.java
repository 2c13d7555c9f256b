package io.verbena.table;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.explore.SimActor;
import io.verbena.rdma.sim.explore.SimExploration;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.EngineGrowth;
import io.verbena.table.growth.OwnState;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.EngineState;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
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
    /** In the place of an operation: all of the table is walked, a record in each range. */
    static final int WALK = -7;
    /** As {@link #SPLIT}, of the sibling of the subtable that is split then; one with the key, if that is merged. */
    static final int SPLIT_SIBLING = -8;
    /** In the place of an operation: records behind their deadline are swept, by the clock of the engine. */
    static final int SWEEP = -9;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final long DEADLINE_MS = 1_000;
    /** Number of the engine that acts, of racing ones from 1: for mutations of some of them only. */
    private static int acting;

    /**
     * What races.
     *
     * @param kinds     operation of each engine.
     * @param isPresent whether the key is there before.
     * @param isCached  whether each engine knows its location.
     * @param isMoving  whether a split has begun before, and moved all slots but a few.
     * @param combined  operations of its kind that each engine begins together, 1 or more: from the third on a batch.
     * @param isExpired whether locations were cached two epochs ago.
     */
    record Race(
        int[] kinds,
        boolean isPresent,
        boolean isCached,
        boolean isMoving,
        int combined,
        boolean isExpired)
    {
        /** States to begin in. */
        static final int STATES = 4;

        Race(final int[] kinds, final boolean isPresent, final boolean isCached)
        {
            this(kinds, isPresent, isCached, false);
        }

        Race(final int[] kinds, final boolean isPresent, final boolean isCached, final boolean isMoving)
        {
            this(kinds, isPresent, isCached, isMoving, 1, false);
        }

        /** @param state absent, present, cached, cached two epochs ago. */
        static Race of(final int[] kinds, final int state)
        {
            return new Race(kinds, state > 0, state > 1, false, 1, state > 2);
        }

        boolean merges()
        {
            return Arrays.stream(kinds).anyMatch(kind -> kind == MERGE || kind == MERGE_PLACING);
        }

        @Override
        public String toString()
        {
            return Arrays.stream(kinds).mapToObj(KindsTogether::name).toList() +
                (isPresent ? " present" : " absent") + (isCached ? " cached" : " cold") +
                (isExpired ? " long ago" : "") + (isMoving ? " moving" : "") +
                (combined > 1 ? " " + combined + " each" : "");
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
        private RacedWalk walk;

        private EngineActor(final int index)
        {
            this.index = index;
        }

        @Override
        public int doWork()
        {
            acting = index;
            final int worked = port.poll(engine) + engine.poll();
            return worked + (walk != null && walk.goOn() ? 1 : 0);
        }

        @Override
        public boolean isDone()
        {
            return engine.active() == 0 && (split == null || split.isFinished()) &&
                (merge == null || merge.isFinished()) && (walk == null || walk.isOver()) &&
                !engine.sweep().isRunning();
        }

        /** Its first request tells which operations of others had ended before; its others are its own business. */
        @Override
        public boolean isOnItsOwn()
        {
            return index == PREPARER || race.kinds[index - 1] < 0 || !isOrdered || exploration.hasBegun(devices[index]);
        }

        /** Of what is over only its outcome counts, of a split or merge what it will do next. */
        @Override
        public long stateHash()
        {
            if (engine.sweep().isRunning())
            {
                return HISTORY;
            }
            final Object outcomes = history.outcomes(operation(index, 0), operation(index + 1, 0));
            if (byState && !splits())
            {
                return OwnState.ofEnd(outcomes) * 31 +
                    (isDone() ? 1 : EngineState.of(engine, port, false, names)) << 1 | 1;
            }
            if (!byState || index == PREPARER)
            {
                return HISTORY;
            }
            if (devices[index].isKilled() || isDone())
            {
                return OwnState.ofEnd(devices[index].isKilled() ? null : end(), outcomes);
            }
            final Object work = split != null ? split : merge != null ? merge : walk;
            return work == null ? EngineState.of(engine, port, true, names) : OwnState.of(work, table, port);
        }

        /** What has become of its split, merge or walk. */
        private String end()
        {
            return split != null ? split.state() + " " + split.failure() :
                merge != null ? merge.state() + " " + merge.failure() : String.valueOf(walk);
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
    private final RaceHistory history;
    private final TablePlan plan;
    private MemorySegment key = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5, 6, 7, 8});
    /** Of a key that is there all the time, in a table deeper than 0. */
    private MemorySegment otherKey;
    /** Engines are told apart by what they are, not by what they saw; and by what they saw where others split. */
    boolean byState = true;
    /** Who died has done more: all but one or two slots; of a merge that has not begun, reserved all but two. */
    boolean leavesFew;
    /** Values are digits, and to every other operation numbers are. */
    boolean areDigits;
    private UnsafeBuffer memory;
    private PreparedSubtables subtables;
    private long initialVersion;
    private boolean isClosing;
    /** Of engines whose clock says that the deadline of the record has passed; null: it has none. */
    private Set<Integer> ahead;
    private boolean isRacing;
    /** Without it all operations are taken to overlap. */
    boolean isOrdered = true;
    private SimExploration exploration;
    private EmptiedNames names;

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
        history = new RaceHistory(count * race.combined);
    }

    /** The record there has a deadline, which passes for these engines when the race begins; the others are behind. */
    void expireFor(final Set<Integer> engines)
    {
        ahead = engines;
        final boolean isForAll = IntStream.rangeClosed(1, race.kinds.length).allMatch(engines::contains);
        history.expire(DEADLINE_MS, isForAll);
    }

    @Override
    public LongUnaryOperator names()
    {
        names = new EmptiedNames();
        return names;
    }

    @Override
    public void prepare(final SimExploration run)
    {
        exploration = run;
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
        isRacing = true;
        for (int i = 1; i < actors.length; i++)
        {
            if (isEngine(i))
            {
                for (int n = 0; n < race.combined; n++)
                {
                    begin(i, KindsTogether.nth(race.kinds[i - 1], n), operation(i, n));
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
            begin(PREPARER, OperationKind.PUT, PREPARER);
            run.finish(actors[PREPARER]);
            otherKey = key;
            key = race.merges() ? subtables.keyOf(1, depth, 0) : subtables.keyOf(0, depth, 1);
        }
        if (race.isPresent)
        {
            begin(PREPARER, OperationKind.PUT, PREPARER);
            run.finish(actors[PREPARER]);
            initialVersion = (Long)history.output(PREPARER);
        }
        for (int i = 1; race.isCached && i < actors.length; i++)
        {
            if (isEngine(i))
            {
                begin(i, OperationKind.GET, operation(i, 0));
                run.finish(actors[i]);
            }
        }
        if (race.isMoving && race.merges())
        {
            final boolean isPlacing = Arrays.stream(race.kinds).anyMatch(kind -> kind == MERGE_PLACING);
            subtables.mergeMostSlots(subtableAt(0), subtableAt(1), SUBTABLES_AT, isPlacing, leavesFew);
        }
        else if (race.merges() && leavesFew)
        {
            subtables.reserveMostSlots(subtableAt(0), subtableAt(1));
        }
        else if (race.isMoving)
        {
            subtables.moveMostSlots(
                TABLE_AT, SUBTABLES_AT, SUBTABLES_AT + (int)plan.subtableBytes(), depth, leavesFew);
        }
        for (int i = 0; race.isExpired && i < actors.length; i++)
        {
            if (isEngine(i))
            {
                actors[i].engine.onEpoch(actors[i].engine.epoch() + 2, 0);
            }
        }
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

    private int subtableAt(final int suffix)
    {
        return TABLE_AT + suffix * (int)plan.subtableBytes();
    }

    private void addReaper(
        final SimExploration run, final int i, final SimDevice memoryNode, final ProtectionDomain memoryDomain,
        final MemoryRegion region)
    {
        final int kind = race.kinds[i - 1];
        final SimDevice device = run.addDevice("reaper");
        final ProtectionDomain domain = device.allocateProtectionDomain();
        final int victim = kind == RECLAIM ? PREPARER : 1;
        if (kind == RECLAIM)
        {
            subtables.leaveTentativeWord(TABLE_AT, key, CHUNKS_AT + CHUNK_BYTES / 2);
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
        return IntStream.range(1, actors.length).noneMatch(i ->
            i != victim && isEngine(i) && actors[i].engine.active() > 0 && !devices[i].isKilled());
    }

    private void addActor(
        final SimExploration run, final int i, final SimDevice memoryNode, final ProtectionDomain memoryDomain,
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
                .expiryClock(() -> isRacing && (i == PREPARER || ahead.contains(i)) ? DEADLINE_MS : DEADLINE_MS - 1)
                .versionClock(() -> 1L << 50).operationListener(op -> note((int)op.correlationId(), op))
                .chunkSource(node -> { }));
        actor.port = new SimQueuePairPort(run.fabric(), device, domain, memoryNode, memoryDomain, region);
        actor.engine.attach(NODE, actor.port);
        actor.engine.chunkLeased(NODE, CHUNKS_AT + (long)i * CHUNK_BYTES, CHUNK_BYTES);
        if (race.combined > 1 && i < 3)
        {
            // Values to which many append need blocks of two classes; where nothing is split there is room.
            actor.engine.chunkLeased(NODE, SUBTABLES_AT + (long)i * CHUNK_BYTES, CHUNK_BYTES);
        }
        actor.table = actor.engine.openTable(plan.descriptor());
    }

    private void note(final int i, final Operation op)
    {
        if (!isClosing)
        {
            history.note(i, op);
            history.precede(i, IntStream.range(race.combined, actors.length * race.combined).filter(other ->
                isOrdered && i >= race.combined && isEngine(other / race.combined) &&
                !exploration.hasBegun(devices[other / race.combined])));
        }
    }

    @Override
    public long stateHash()
    {
        return history.orderHash();
    }

    static int acting()
    {
        return acting;
    }

    private void begin(final int i, final int kind, final int operation)
    {
        acting = i;
        history.begin(operation);
        final TableEngine engine = actors[i].engine;
        if (kind <= SPLIT)
        {
            actors[i].port.forgetsResults();
        }
        final long offset = SUBTABLES_AT + 2L * i * plan.subtableBytes();
        switch (kind)
        {
            case SPLIT, SPLIT_SIBLING -> actors[i].split = engine.growth().begin(
                actors[i].table, kind == SPLIT ? 0 : 1, offset, offset + plan.subtableBytes(), NEVER_NS);
            case MERGE, MERGE_PLACING -> actors[i].merge =
                engine.growth().beginMerge(actors[i].table, 1, offset, NEVER_NS);
            case SWEEP -> engine.sweep().begin(actors[i].table, actors[i].table.subtable(0), 0, NEVER_NS);
            case WALK -> actors[i].walk = new RacedWalk(engine, actors[i].table);
            default -> beginOperation(engine, i, kind, operation);
        }
    }

    private void beginOperation(final TableEngine engine, final int i, final int kind, final int operation)
    {
        final TableRequest request = new TableRequest().of(kind, actors[i].table, NEVER_NS, operation).key(key, 0, 8)
            .expectedVersion(initialVersion).delta(ClientView.delta(operation)).inDigits(areDigits && i % 2 == 0);
        if (OperationKind.takesValue(kind))
        {
            ClientView.giveValue(request, kind, 100 + operation, areDigits);
        }
        if (ahead != null && !isRacing && kind == OperationKind.PUT)
        {
            request.expiry(DEADLINE_MS);
        }
        engine.begin(request);
    }

    @Override
    public void close()
    {
        isClosing = true;
        Arrays.stream(actors).filter(Objects::nonNull).forEach(actor -> actor.engine.close());
    }

    @Override
    public String verdict(final SimExploration run)
    {
        begin(PREPARER, OperationKind.GET, PREPARER);
        run.finish(actors[PREPARER]);
        final String problem = splits() ? problemOfSplit() :
            subtables.committedWords(TABLE_AT) > 1 ? "two committed words of one key" : null;
        if (problem != null)
        {
            return race + ": " + problem;
        }
        final String problemOfRest = splits() ? problemOfRest(run) : null;
        if (problemOfRest != null)
        {
            return race + ", and somebody who did the rest: " + problemOfRest;
        }
        final String verdict = verdicts.computeIfAbsent(history.toString(),
            outcome -> history.judge(race.toString(), initialVersion, operationKinds()));
        return verdict.isEmpty() ? null : verdict;
    }

    private boolean splits()
    {
        return race.isMoving || Arrays.stream(race.kinds).anyMatch(kind -> kind <= SPLIT && kind != SWEEP);
    }

    private String problemOfSplit()
    {
        for (final EngineActor actor : actors)
        {
            final boolean isFailed = actor.split != null && actor.split.state() == TableSplit.State.FAILED ||
                actor.merge != null && actor.merge.state() == TableMerge.State.FAILED;
            if (isFailed && !mayLose())
            {
                return actor.end();
            }
            if (actor.walk != null && actor.walk.isOver() && problemOfWalk(actor.walk) != null)
            {
                return actor.walk + ": " + problemOfWalk(actor.walk);
            }
        }
        return check().isSound() ? null : check().toString();
    }

    private TableCheck check()
    {
        return new TableChecker(plan.descriptor(),
            (node, offset, target, lengthBytes) -> target.putBytes(0, memory, (int)offset, lengthBytes)).check();
    }

    /** Another node ends what those who died have begun, and finds the same. */
    private String problemOfRest(final SimExploration run)
    {
        final EngineActor actor = actors[PREPARER];
        final EngineGrowth growth = actor.engine.growth();
        final Object before = history.output(PREPARER);
        for (int suffix = 0; suffix < plan.subtableCount(); suffix++)
        {
            actor.merge = growth.beginMerge(actor.table, suffix, 0, NEVER_NS);
            run.finish(actor);
            if (actor.merge.isUndecided())
            {
                final long safeEpoch = actor.merge.undecidedEpoch() + EpochTracker.REUSE_DISTANCE;
                actor.engine.onEpoch(safeEpoch + 1, safeEpoch);
                actor.merge = growth.beginMerge(actor.table, suffix, 0, NEVER_NS);
                run.finish(actor);
            }
            actor.split = growth.begin(actor.table, suffix, 0, 0, NEVER_NS);
            run.finish(actor);
            final boolean isMergeEnded = actor.merge.state() == TableMerge.State.DONE || actor.merge.isWithdrawn();
            if (!isMergeEnded || actor.split.state() != TableSplit.State.DONE)
            {
                return actor.merge + " " + actor.split;
            }
        }
        begin(PREPARER, OperationKind.GET, PREPARER);
        run.finish(actor);
        final Object after = history.output(PREPARER);
        return !Objects.equals(before, after) ? before + " became " + after :
            check().isSound() ? null : check().toString();
    }

    /** Whoever wants something else than others do with the same subtables may have to give up. */
    private boolean mayLose()
    {
        return Arrays.stream(race.kinds).filter(kind -> kind <= SPLIT && kind != WALK).distinct().count() > 1 ||
            Arrays.stream(race.kinds).filter(kind -> kind == MERGE).count() > 1;
    }

    private String problemOfWalk(final RacedWalk walk)
    {
        return walk.problem(key, race.isPresent && Arrays.stream(race.kinds)
            .noneMatch(kind -> kind == OperationKind.DELETE || kind == OperationKind.DELETE_VERSION), otherKey);
    }

    /** @return the kind of each operation, or what is below 0. */
    private int[] operationKinds()
    {
        final int[] kinds = new int[actors.length * race.combined];
        Arrays.fill(kinds, FENCE);
        for (int i = race.combined; i < kinds.length; i++)
        {
            kinds[i] = KindsTogether.nth(race.kinds[i / race.combined - 1], i % race.combined);
        }
        return kinds;
    }
}
