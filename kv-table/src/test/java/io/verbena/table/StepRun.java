package io.verbena.table;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * One seeded run: a few engines work on a few keys that share fingerprints and groups, with heaps so small that blocks
 * are used again and again, requests that tear and linger, and engines that die, pause or lose a connection between any
 * two requests. Ends with a verdict on the history and on the bytes.
 */
final class StepRun implements AutoCloseable
{
    static final int NODE = 3;
    private static final long HASH_SEED = 42;
    private static final int TABLE_AT = 4096;
    private static final int CHUNKS_AT = 1 << 16;
    private static final int CHUNK_STRIDE = 1 << 15;
    private static final int BLOCK_BYTES = 192;
    private static final int LONGER_BLOCK_BYTES = 256;
    private static final int SUBTABLES_AT = CHUNKS_AT + 8 * CHUNK_STRIDE;
    private static final int SUBTABLES = 64;
    private static final int MAX_SPLIT_DEPTH = 9;
    /** Turns of a node until it tries, too early, to take back what it has found undecided. */
    private static final int EARLY_ONE_IN = 8;
    static final List<byte[]> COLLIDING = CollidingKeys.find(HASH_SEED, 6);
    private static final List<Long> HIGHS = CollidingKeys.highs(HASH_SEED, COLLIDING);

    private final long seed;
    private final StepShape shape;
    private final Random random;
    final StepFabric fabric;
    private final RaceWorkload workload;
    private final List<Node> nodes = new ArrayList<>();
    private final TablePlan plan = TablePlan.ofShape("race", 77, HASH_SEED, 0, 1, new int[]{NODE});
    private final Deque<Long> freeSubtables = new ArrayDeque<>();
    /** Offset and epoch of subtables that are not needed any more. */
    private final List<long[]> retiredSubtables = new ArrayList<>();
    private final TableDirectory catalog;
    private long catalogVersion;
    private long nowNs = 1_000_000;
    private long splits;
    private long merges;
    private long withdrawals;
    private String mergeProblem;
    private long epoch = 1;

    /** A compute node: an engine, its clients, its view of the epoch. */
    private final class Node
    {
        private final int id;
        private final TableEngine engine;
        private final StepFabric.StepPort[] port = new StepFabric.StepPort[1];
        private final OpenTable table;
        private final RaceWorkload.Clients clients = workload.clients(shape.clients);
        private long heard = 1;
        private long passed;
        private long catalogSeen;
        private int pausedFor;
        private boolean dead;
        private boolean fenced;
        private final Deadlines.Clock clock = new Deadlines.Clock(shape.skewNs);
        private TableSplit split;
        private final long[] splitMemory = new long[2];
        private TableMerge merge;
        private long mergeMemory;
        private int restructuredSuffix;
        private long undecidedEpoch;

        private Node(final int id)
        {
            this.id = id;
            final long skewNs = random.nextInt(4) * 10_000_000L;
            engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(shape.fences), () -> nowNs,
                new TableEngineConfiguration().operationSlots(shape.clients).writerNumber(id)
                    .locationCacheEntries(shape.cacheEntries).seed(seed + id).backoffNs(500, 20_000)
                    .versionClock(() -> nowNs + skewNs)
                    .expiryClock(() -> clock.time(nowNs))
                    .operationListener(clients::onComplete)
                    .chunkSource(node -> refuse()).repeatsLostOutcomes(shape.repeatsLost));
            connect();
            table = engine.openTable(plan.descriptor());
            engine.chunkLeased(NODE, chunkAt(id), (long)shape.blocks * BLOCK_BYTES);
            if (Arrays.stream(shape.kinds).anyMatch(kind -> kind == OperationKind.APPEND))
            {
                // Values that grow need blocks of further classes, each of which cuts a slab of its own.
                engine.chunkLeased(NODE, chunkAt(id) + CHUNK_STRIDE / 2, (long)shape.blocks * LONGER_BLOCK_BYTES);
            }
        }

        private void refuse()
        {
            engine.chunkRefused(NODE);
        }

        private void connect()
        {
            port[0] = fabric.connect(NODE, engine::onBatchComplete);
            engine.attach(NODE, port[0]);
        }

        private void work()
        {
            if (dead)
            {
                return;
            }
            if (pausedFor > 0)
            {
                pausedFor--;
                return;
            }
            clock.step(random);
            engine.poll();
            if (shape.leavesProposals && merge != null && merge.toString().contains("phase=DECIDE"))
            {
                // Before its request is executed, mostly: then the proposal is left.
                breakConnection(this);
            }
            if (shape.splitOneIn > 0)
            {
                goOnSplitting();
            }
            RandomSweep.maybeBegin(engine, table, workload.isAllBegun() ? 0 : shape.sweepOneIn, random, nowNs);
            engine.beginGroup();
            for (int i = shape.groups ? shape.clients : 1; i > 0; i--)
            {
                clients.maybeBegin(engine, table, nowNs +
                    (shape.shortDeadlines && random.nextInt(4) == 0 ? random.nextInt(30_000) : 50_000_000L));
            }
            engine.endGroup();
            if (random.nextInt(shape.expires ? 2 : 20) == 0)
            {
                passed = engine.passedEpoch();
                if (heard < epoch)
                {
                    heard = epoch;
                    refresh();
                }
                engine.onEpoch(heard, safeEpoch());
            }
        }

        private void refresh()
        {
            if (catalogSeen != catalogVersion)
            {
                catalogSeen = catalogVersion;
                table.refresh(catalogDescriptor());
            }
        }

        private void goOnSplitting()
        {
            if (split != null && split.isFinished())
            {
                endSplit();
            }
            else if (merge != null && merge.isFinished())
            {
                endMerge();
            }
            else if (split == null && merge == null && undecidedEpoch != 0 &&
                (engine.isReusable(undecidedEpoch) || random.nextInt(EARLY_ONE_IN) == 0))
            {
                mergeMemory = 0;
                undecidedEpoch = 0;
                merge = engine.growth().beginMerge(table, restructuredSuffix, 0, deadlineNs());
            }
            else if (split == null && merge == null && random.nextInt(shape.splitOneIn) == 0 &&
                !workload.isAllBegun() && (!shape.leavesProposals || undecidedEpoch == 0))
            {
                final int suffix = KeyHash.suffix(HIGHS.get(random.nextInt(shape.keys)), table.directory.depth());
                if (shape.mergeOneIn > 0 && random.nextInt(shape.mergeOneIn) == 0)
                {
                    beginMerge(suffix);
                }
                else if (freeSubtables.size() >= 2 && table.directory.depth(suffix) < MAX_SPLIT_DEPTH)
                {
                    splitMemory[0] = freeSubtables.poll();
                    splitMemory[1] = freeSubtables.poll();
                    beginSplit(suffix);
                }
            }
        }

        private void beginSplit(final int suffix)
        {
            split = engine.growth().begin(table, suffix, splitMemory[0], splitMemory[1], deadlineNs());
            restructuredSuffix = suffix;
        }

        private long deadlineNs()
        {
            return nowNs + (random.nextInt(4) == 0 ? random.nextInt(40_000) : 50_000_000L);
        }

        private void beginMerge(final int suffix)
        {
            if (table.directory.depth(suffix) > 0 && !freeSubtables.isEmpty())
            {
                mergeMemory = freeSubtables.poll();
                merge = engine.growth().beginMerge(table, suffix, mergeMemory, deadlineNs());
                restructuredSuffix = suffix;
            }
        }

        private void endSplit()
        {
            if (!split.usesGivenMemory() && splitMemory[0] != 0)
            {
                freeSubtables.add(splitMemory[0]);
                freeSubtables.add(splitMemory[1]);
            }
            splits += split.state() == TableSplit.State.DONE && splitMemory[0] != 0 ? 1 : 0;
            final boolean isMerged = split.isMerged();
            split = null;
            if (isMerged)
            {
                // To be finished before it is split.
                mergeMemory = 0;
                merge = engine.growth().beginMerge(table, restructuredSuffix, 0, deadlineNs());
            }
        }

        private void endMerge()
        {
            if (!merge.usesGivenMemory() && mergeMemory != 0)
            {
                freeSubtables.add(mergeMemory);
            }
            merges += merge.state() == TableMerge.State.DONE && mergeMemory != 0 ? 1 : 0;
            final boolean isNotWhole = merge.failure() != null && merge.failure().startsWith("it is not whole");
            noteMergeFailure(merge);
            withdrawals += merge.isWithdrawn() && mergeMemory == 0 ? 1 : 0;
            undecidedEpoch = merge.isUndecided() ? merge.undecidedEpoch() : 0;
            merge = null;
            if (isNotWhole)
            {
                Arrays.fill(splitMemory, 0);
                beginSplit(restructuredSuffix);
            }
        }

        private boolean isBusy()
        {
            return !dead && (engine.active() > 0 || split != null || merge != null || engine.sweep().isRunning() ||
                !port[0].isIdle());
        }
    }

    StepRun(final long seed, final StepShape shape)
    {
        this.seed = seed;
        this.shape = shape;
        fabric = new StepFabric(seed);
        random = fabric.random;
        fabric.readsOvertakeAtomics = shape.fences;
        workload = new RaceWorkload(
            "seed " + seed, random, COLLIDING.subList(0, shape.keys), shape.kinds, shape.operations);
        workload.take(shape, seed);
        format();
        catalog = new TableDirectory(plan.descriptor());
        for (int i = 0; i < SUBTABLES; i++)
        {
            freeSubtables.add((long)SUBTABLES_AT + i * plan.subtableBytes());
        }
        for (int i = 0; i < shape.engines; i++)
        {
            nodes.add(new Node(i + 1));
        }
    }

    /** What must not happen to any merge. */
    private void noteMergeFailure(final TableMerge merge)
    {
        final String failure = merge.failure();
        if (failure != null && (failure.contains("no room") || failure.contains("not initialised") ||
            failure.contains("another subtable") || failure.contains("nowhere")))
        {
            mergeProblem = "seed " + seed + ": " + merge;
        }
    }

    private static long chunkAt(final int id)
    {
        return CHUNKS_AT + (long)(id - 1) * CHUNK_STRIDE;
    }

    /** The table, with words of inserters that died in some of its slots. */
    private void format()
    {
        final UnsafeBuffer memory = fabric.addMemory(NODE, SUBTABLES_AT + SUBTABLES * 256);
        plan.place(NODE, TABLE_AT);
        SubtableDescriptor.write(memory, TABLE_AT, 77, 0, 0, 1, HASH_SEED, 0);
        final TreeSet<Integer> dead = new TreeSet<>();
        while (dead.size() < shape.deadWords)
        {
            dead.add(random.nextInt(BucketDescriptor.SLOTS_PER_GROUP));
        }
        final int fingerprint = fingerprintOfKeys();
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            final int at = TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES;
            memory.putLong(at, BucketDescriptor.header(77, 0, 0), LITTLE_ENDIAN);
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                if (dead.contains(bucket * BucketDescriptor.SLOTS_PER_BUCKET + slot))
                {
                    final long word = SlotWord.committed(fingerprint + random.nextInt(2) & 0x3FFF, 0, slot, 2, 64);
                    memory.putLong(at + BucketDescriptor.SLOTS_OFFSET + slot * Long.BYTES,
                        SlotWord.withKind(word, SlotWord.KIND_TENTATIVE), LITTLE_ENDIAN);
                }
            }
        }
    }

    private static int fingerprintOfKeys()
    {
        return KeyHash.fingerprint(HIGHS.get(0));
    }

    private long safeEpoch()
    {
        long safe = Long.MAX_VALUE;
        for (final Node node : nodes)
        {
            safe = node.fenced ? safe : Math.min(safe, node.passed);
        }
        return safe;
    }

    /**
     * The epoch advances when every live node knows the present one, which it shows by having passed the one before.
     */
    private void coordinate()
    {
        if (random.nextBoolean())
        {
            publish();
        }
        reuseSubtables();
        if (safeEpoch() >= epoch - 1)
        {
            epoch++;
        }
        for (final Node node : nodes)
        {
            if (node.dead && !node.fenced && random.nextInt(50) == 0)
            {
                // Fence first: nothing of it lands any more. Then it counts for the epoch no longer.
                node.port[0].fail(false);
                node.fenced = true;
            }
        }
    }

    /** Some node tells all others which splits are complete, which retires the subtables that are not named then. */
    private void publish()
    {
        for (int entry = 0; entry < 1 << catalog.depth(); entry++)
        {
            final long groups = catalog.groupsOffset(entry);
            final long subtable = groups - SubtableDescriptor.GROUPS_OFFSET;
            final long link = fabric.memory(NODE)
                .getLong((int)subtable + SubtableDescriptor.SPLIT_OFFSET, LITTLE_ENDIAN);
            if (MergeLink.isLink(link))
            {
                publishMerge(entry, subtable, link);
            }
            else if (SplitLink.isComplete(link) &&
                catalog.learn(catalog.suffix(entry), catalog.depth(entry), groups, link,
                TableDirectory.Superseded.NONE))
            {
                catalogVersion++;
                retiredSubtables.add(new long[]{ subtable, epoch });
            }
        }
    }

    /** Only when the sibling stands in the descriptor as well: so none of those between is forgotten. */
    private void publishMerge(final int entry, final long subtable, final long link)
    {
        final int depth = catalog.depth(entry);
        final int suffix = catalog.suffix(entry);
        final int sibling = suffix ^ 1 << depth - 1;
        final int merged = (int)MergeLink.merged(link);
        if (fabric.memory(NODE).getLong(merged + SubtableDescriptor.PREDECESSOR_OFFSET, LITTLE_ENDIAN) == 0 &&
            catalog.depth(sibling) == depth &&
            catalog.groupsOffset(sibling) == MergeLink.sibling(link) + SubtableDescriptor.GROUPS_OFFSET &&
            catalog.learn(suffix, depth, subtable + SubtableDescriptor.GROUPS_OFFSET, link,
                TableDirectory.Superseded.NONE))
        {
            catalogVersion++;
            retiredSubtables.add(new long[]{ subtable, epoch });
            retiredSubtables.add(new long[]{ MergeLink.sibling(link), epoch });
        }
    }

    private void reuseSubtables()
    {
        retiredSubtables.removeIf(retired ->
        {
            final boolean isReusable = safeEpoch() >= retired[1] + EpochTracker.REUSE_DISTANCE;
            if (isReusable && retired[0] != TABLE_AT)
            {
                freeSubtables.add(retired[0]);
            }
            return isReusable;
        });
    }

    private TableDescriptor catalogDescriptor()
    {
        return new TableDescriptor("race", 77, catalog.depth(), 1, HASH_SEED, catalog.entries(plan.descriptor()));
    }

    private void fault()
    {
        final Node node = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(3))
        {
            case 0 ->
            {
                if (!node.dead && nodes.stream().filter(other -> !other.dead).count() > 1)
                {
                    node.dead = true;
                    node.port[0].cut();
                }
            }
            case 1 -> breakConnection(node);
            default ->
            {
            }
        }
    }

    /** Answers to what was executed already may be lost with it. */
    private void breakConnection(final Node node)
    {
        if (!node.dead)
        {
            final StepFabric.StepPort broken = node.port[0];
            node.connect();
            broken.fail(true);
        }
    }

    /** @return null when all is well, else what is wrong. */
    String run()
    {
        int steps = 0;
        while (!workload.isAllBegun() || nodes.stream().anyMatch(Node::isBusy))
        {
            if (++steps > 3_000_000)
            {
                return "seed " + seed + ": does not end; " + nodes.stream().map(node -> node.engine).toList();
            }
            nowNs += 20 + random.nextInt(60);
            if (workload.deadlines != null)
            {
                workload.deadlines.tick(nowNs);
            }
            step();
        }
        return verdict();
    }

    private void step()
    {
        final int choice = random.nextInt(100);
        if (choice < 70)
        {
            fabric.step();
        }
        else if (choice < (shape.expires ? 90 : 97))
        {
            nodes.get(random.nextInt(nodes.size())).work();
        }
        else
        {
            coordinate();
        }
        if (random.nextInt(shape.pauseOneIn) == 0)
        {
            final Node node = nodes.get(random.nextInt(nodes.size()));
            node.pausedFor = random.nextInt(200);
            node.port[0].deaf = random.nextBoolean();
        }
        if (random.nextInt(300) == 0)
        {
            nodes.forEach(node -> node.port[0].deaf = false);
        }
        if ((shape.repeats || shape.repeatsLost) && random.nextInt(250) == 0)
        {
            breakConnection(nodes.get(random.nextInt(nodes.size())));
        }
        if (shape.faults && random.nextInt(3000) == 0)
        {
            fault();
        }
    }

    private String verdict()
    {
        if (mergeProblem != null)
        {
            return mergeProblem;
        }
        final TableCheck check = new TableChecker(catalogDescriptor(), fabric::read).check();
        if (!check.isSound())
        {
            return "seed " + seed + ": " + check;
        }
        final String verdict = workload.verdict();
        if (verdict != null)
        {
            return verdict;
        }
        final String lost = nodes.stream().anyMatch(node -> node.dead) ? null :
            BlockAccount.judge(check, nodes.stream().map(node -> node.engine).toList(), NODE);
        return lost == null ? null : "seed " + seed + ": " + lost;
    }

    @Override
    public void close()
    {
        nodes.forEach(node -> node.port[0].fail(false));
        nodes.forEach(node -> node.engine.close());
        fabric.close();
    }

    long repeated(final int result)
    {
        return workload.repeated[result];
    }

    /** Splits brought to their ends. */
    long splits()
    {
        return splits;
    }

    /** Merges brought to their ends. */
    long merges()
    {
        return merges;
    }

    /** Proposals of others that were to be taken back. */
    long withdrawals()
    {
        return withdrawals;
    }

    /** Deadlines that have passed for everybody. */
    long elapsed()
    {
        return workload.deadlines.elapsed();
    }

    int depth()
    {
        return catalog.depth();
    }

    EngineCounters counters()
    {
        return CounterSum.of(nodes.stream().map(node -> node.engine.counters()).toList());
    }
}
