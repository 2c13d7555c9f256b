package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.mirror.SubtableReconciliation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * One seeded run as {@link MirrorRun}, of a table whose subtables are split and merged all the time, as in {@link
 * StepRun}: headers, links and slots of all subtables are made equal when members are lost.
 */
final class GrowingMirrorRun implements AutoCloseable
{
    private static final int NODE = 3;
    private static final int TABLE_ID = 77;
    private static final long HASH_SEED = 42;
    private static final int TABLE_AT = 4096;
    private static final int CHUNKS_AT = 1 << 16;
    private static final int CHUNK_STRIDE = 1 << 15;
    private static final int CHUNK_BYTES = 60 * 192;
    private static final int SUBTABLES_AT = CHUNKS_AT + 5 * CHUNK_STRIDE;
    private static final int SUBTABLES = 96;
    private static final int MAX_SPLIT_DEPTH = 9;
    private static final int MOST_STEPS = 3_000_000;
    private static final long LONG_NS = 50_000_000L;
    private static final List<byte[]> COLLIDING = CollidingKeys.find(HASH_SEED, 6);
    private static final List<Long> HIGHS = CollidingKeys.highs(HASH_SEED, COLLIDING);

    private final String name;
    private final GrowingMirrorShape shape;
    private final long seed;
    private final StepFabric fabric;
    private final Random random;
    private final RaceWorkload workload;
    private final TablePlan plan = TablePlan.ofShape("mirror", TABLE_ID, HASH_SEED, 0, 1, new int[]{NODE});
    private final List<Node> nodes = new ArrayList<>();
    private final PublishedSubtables subtables;
    /** Memory nodes of the view, head first. */
    private List<Integer> members;
    /** By member, while the view is ended. */
    private boolean[] isLost;
    private boolean[] isClosed;
    private boolean isEnding;
    private SubtableReconciliation reconciliation;
    private long view = 1;
    private long nowNs = 1_000_000;
    private long epoch = 1;
    private String problem;
    int losses;
    long splits;
    long merges;
    long withdrawals;
    long finished;
    /** Words that were seen in the place of proposals that had been taken back. */
    long withdrawnWords;

    /** A compute node. */
    private final class Node
    {
        private final TableEngine engine;
        private final OpenTable table;
        private final RaceWorkload.Clients clients = workload.clients(shape.clients);
        private StepFabric.StepPort[] ports = {};
        private MirrorPort mirror;
        private boolean isIn;
        private long viewOf;
        private boolean isDead;
        private boolean isFenced;
        private int pausedFor;
        private long heard = 1;
        private long passed;
        private long catalogSeen;
        private TableSplit split;
        private TableMerge merge;
        /** Of the split or merge under way; 0: none was given. */
        private final long[] memory = new long[2];
        private int suffix;
        private long undecidedEpoch;

        private Node(final int id)
        {
            engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
                new TableEngineConfiguration().operationSlots(shape.clients).writerNumber(id)
                    .locationCacheEntries(random.nextInt(5) == 0 ? 0 : 64).seed(seed + id).backoffNs(500, 20_000)
                    .versionClock(() -> nowNs).operationListener(clients::onComplete)
                    .chunkSource(node -> refuse()).repeatsLostOutcomes(true));
            connect();
            table = engine.openTable(plan.descriptor());
            engine.chunkLeased(NODE, CHUNKS_AT + (long)(id - 1) * CHUNK_STRIDE, CHUNK_BYTES);
        }

        private void refuse()
        {
            engine.chunkRefused(NODE);
        }

        private void connect()
        {
            isIn = true;
            viewOf = view;
            mirror = null;
            if (members.size() == 1)
            {
                ports = new StepFabric.StepPort[]{fabric.connect(members.getFirst(), engine::onBatchComplete)};
                engine.attach(NODE, ports[0]);
                return;
            }
            final MirrorPort[] own = new MirrorPort[1];
            ports = members.stream().map(id -> fabric.connect(id, (cookie, status) ->
                own[0].onMemberComplete(cookie, status))).toArray(StepFabric.StepPort[]::new);
            mirror = new MirrorPort(new LocalDomain(), view,
                Arrays.copyOf(ports, ports.length, OneSidedPort[].class), engine::onBatchComplete);
            own[0] = mirror;
            engine.attach(NODE, mirror);
        }

        /** Posts nothing more in the view, and reports nothing from what it has posted. */
        private void leave()
        {
            for (final StepFabric.StepPort port : ports)
            {
                port.fail(false);
            }
            isIn = false;
            if (mirror != null)
            {
                finished += mirror.finished();
                mirror.close();
                mirror = null;
            }
            if (!isDead)
            {
                engine.detach(NODE);
            }
        }

        /** Answers to what was executed already may be lost with it. */
        private void breakConnection()
        {
            if (!isDead && isIn && viewOf == view && !isEnding)
            {
                leave();
                connect();
            }
        }

        private void work()
        {
            if (isDead || pausedFor-- > 0)
            {
                return;
            }
            if (mirror != null)
            {
                mirror.poll();
            }
            engine.poll();
            if (shape.leavesProposals && merge != null && merge.toString().contains("phase=DECIDE"))
            {
                breakConnection();
            }
            goOnGrowing();
            engine.beginGroup();
            clients.maybeBegin(engine, table, nowNs + LONG_NS);
            engine.endGroup();
            if (random.nextInt(20) == 0)
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
            if (catalogSeen != subtables.version)
            {
                catalogSeen = subtables.version;
                table.refresh(subtables.descriptor());
            }
        }

        private void goOnGrowing()
        {
            if (split != null && split.isFinished())
            {
                endSplit();
            }
            else if (merge != null && merge.isFinished())
            {
                endMerge();
            }
            else if (split == null && merge == null && undecidedEpoch != 0 && engine.isReusable(undecidedEpoch))
            {
                undecidedEpoch = 0;
                beginMerge(false);
            }
            else if (split == null && merge == null && undecidedEpoch == 0 && !workload.isAllBegun() &&
                random.nextInt(shape.splitOneIn) == 0)
            {
                suffix = KeyHash.suffix(HIGHS.get(random.nextInt(shape.keys)), table.directory.depth());
                if (random.nextInt(shape.mergeOneIn) != 0)
                {
                    beginSplit(true);
                }
                else if (table.directory.depth(suffix) > 0)
                {
                    beginMerge(true);
                }
            }
        }

        private long deadlineNs()
        {
            return nowNs + (random.nextInt(4) == 0 ? random.nextInt(80_000) : LONG_NS);
        }

        private void beginSplit(final boolean isNew)
        {
            if (!isNew || subtables.free.size() >= 2 && table.directory.depth(suffix) < MAX_SPLIT_DEPTH)
            {
                memory[0] = isNew ? subtables.free.poll() : 0;
                memory[1] = isNew ? subtables.free.poll() : 0;
                split = engine.growth().begin(table, suffix, memory[0], memory[1], deadlineNs());
            }
        }

        private void beginMerge(final boolean isNew)
        {
            if (!isNew || !subtables.free.isEmpty())
            {
                memory[0] = isNew ? subtables.free.poll() : 0;
                memory[1] = 0;
                merge = engine.growth().beginMerge(table, suffix, memory[0], deadlineNs());
            }
        }

        private void endSplit()
        {
            giveBack(split.usesGivenMemory(), false);
            note(split.failure(), split);
            splits += split.state() == TableSplit.State.DONE && memory[0] != 0 ? 1 : 0;
            final boolean isMerged = split.isMerged();
            split = null;
            if (isMerged)
            {
                beginMerge(false);
            }
        }

        private void endMerge()
        {
            giveBack(merge.usesGivenMemory(), merge.isWithdrawn());
            note(merge.failure(), merge);
            merges += merge.state() == TableMerge.State.DONE && memory[0] != 0 ? 1 : 0;
            withdrawals += merge.isWithdrawn() ? 1 : 0;
            withdrawnWords += merge.isWithdrawn() ? subtables.countWithdrawn(GrowingMirrorRun.this::primaryWord) : 0;
            undecidedEpoch = merge.isUndecided() ? merge.undecidedEpoch() : 0;
            final boolean isNotWhole = merge.failure() != null && merge.failure().startsWith("it is not whole");
            merge = null;
            if (isNotWhole)
            {
                beginSplit(false);
            }
        }

        /** What was named for a while goes back by the epoch. */
        private void giveBack(final boolean isUsed, final boolean wasNamed)
        {
            for (final long offset : memory)
            {
                if (!isUsed && offset != 0 && wasNamed)
                {
                    subtables.retire(offset, epoch);
                }
                else if (!isUsed && offset != 0)
                {
                    subtables.free.add(offset);
                }
            }
        }

        private boolean isBusy()
        {
            return !isDead && (engine.active() > 0 || split != null || merge != null ||
                Arrays.stream(ports).anyMatch(port -> !port.isIdle()));
        }
    }

    GrowingMirrorRun(final long seed, final GrowingMirrorShape shape)
    {
        this.seed = seed;
        this.shape = shape;
        name = "seed " + seed;
        fabric = new StepFabric(seed);
        random = fabric.random;
        workload = new RaceWorkload(name, random, COLLIDING.subList(0, shape.keys), shape.kinds, shape.operations);
        plan.place(NODE, TABLE_AT);
        members = new ArrayList<>(IntStream.rangeClosed(1, shape.copies).boxed().toList());
        members.forEach(id -> format(fabric.addMemory(id, SUBTABLES_AT + SUBTABLES * (int)plan.subtableBytes())));
        subtables = new PublishedSubtables(plan, HASH_SEED, TABLE_AT, SUBTABLES_AT, SUBTABLES);
        for (int id = 1; id <= shape.engines; id++)
        {
            nodes.add(new Node(id));
        }
    }

    private static void format(final UnsafeBuffer memory)
    {
        SubtableDescriptor.write(memory, TABLE_AT, TABLE_ID, 0, 0, 1, HASH_SEED, 0);
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            memory.putLong(TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES,
                BucketDescriptor.header(TABLE_ID, 0, 0), LITTLE_ENDIAN);
        }
    }

    /** What must not happen to any split or merge. */
    private void note(final String failure, final Object work)
    {
        if (failure != null && (failure.contains("no room") || failure.contains("not initialised") ||
            failure.contains("another subtable") || failure.contains("nowhere") || failure.contains("no subtable")))
        {
            problem = problem == null ? work.toString() : problem;
        }
    }

    private long safeEpoch()
    {
        return nodes.stream().filter(node -> !node.isFenced).mapToLong(node -> node.passed).min().orElse(0);
    }

    private void coordinate()
    {
        if (!isEnding && random.nextBoolean())
        {
            subtables.publish(this::primaryWord, epoch);
        }
        subtables.reuse(safeEpoch());
        if (safeEpoch() >= epoch - 1)
        {
            epoch++;
        }
        for (final Node node : nodes)
        {
            if (node.isDead && !node.isFenced && random.nextInt(50) == 0)
            {
                Arrays.stream(node.ports).forEach(port -> port.fail(false));
                node.isFenced = true;
            }
        }
    }

    private long primaryWord(final long offset)
    {
        return fabric.memory(members.getLast()).getLong((int)offset, LITTLE_ENDIAN);
    }

    private void loseMember()
    {
        final int member = random.nextInt(members.size());
        if (!isEnding)
        {
            isEnding = true;
            isLost = new boolean[members.size()];
            isClosed = new boolean[members.size()];
        }
        if (!isLost[member] && IntStream.range(0, isLost.length).filter(i -> !isLost[i]).count() > 1)
        {
            losses++;
            isLost[member] = true;
            reconciliation = null;
            if (!shape.isZombie)
            {
                close(member);
            }
        }
    }

    /** Nothing of the view lands there any more. */
    private void close(final int member)
    {
        isClosed[member] = true;
        nodes.stream().filter(node -> node.isIn && node.viewOf == view)
            .forEach(node -> node.ports[member].fail(false));
    }

    /** A step of the change of view. */
    private void goOnEnding()
    {
        for (int member = 0; member < members.size(); member++)
        {
            if (!isClosed[member] && !isLost[member])
            {
                if (random.nextInt(3) == 0)
                {
                    close(member);
                }
                return;
            }
        }
        for (final Node node : nodes)
        {
            if (node.isIn && node.viewOf == view)
            {
                if (node.pausedFor <= 0)
                {
                    node.leave();
                }
                return;
            }
        }
        if (reconciliation == null)
        {
            reconciliation = reconciliation(words());
        }
        if (!reconciliation.goOn())
        {
            activate();
        }
    }

    private SlotReconciliation words()
    {
        final boolean[] survivors = new boolean[members.size()];
        for (int i = 0; i < survivors.length; i++)
        {
            survivors[i] = !isEnding || !isLost[i];
        }
        return new SlotReconciliation(
            members.stream().<SlotReconciliation.Copy>map(id -> new MemoryCopy(fabric.memory(id))).toList(),
            survivors);
    }

    private SubtableReconciliation reconciliation(final SlotReconciliation words)
    {
        return new SubtableReconciliation(words, Subtable.of(subtables.descriptor()), 1);
    }

    private void activate()
    {
        members = new ArrayList<>(IntStream.range(0, isLost.length).filter(i -> !isLost[i])
            .mapToObj(members::get).toList());
        view++;
        isEnding = false;
        reconciliation = null;
        nodes.stream().filter(node -> !node.isDead && !node.isIn).forEach(Node::connect);
    }

    /** @return null when all is well, else what is wrong. */
    String run()
    {
        int steps = 0;
        while (!workload.isAllBegun() || isEnding || nodes.stream().anyMatch(Node::isBusy))
        {
            if (++steps > MOST_STEPS)
            {
                return name + ": does not end; " + nodes.stream()
                    .map(node -> node.engine + " " + node.mirror + " " + node.split + " " + node.merge).toList();
            }
            nowNs += 20 + random.nextInt(60);
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
        else if (choice < 97)
        {
            nodes.get(random.nextInt(nodes.size())).work();
        }
        else
        {
            coordinate();
        }
        if (isEnding && random.nextInt(4) == 0)
        {
            goOnEnding();
        }
        final Node node = nodes.get(random.nextInt(nodes.size()));
        if (random.nextInt(400) == 0)
        {
            node.pausedFor = random.nextInt(200);
        }
        if (shape.loseOneIn > 0 && members.size() > 1 && random.nextInt(shape.loseOneIn) == 0)
        {
            loseMember();
        }
        if (shape.breakOneIn > 0 && random.nextInt(shape.breakOneIn) == 0)
        {
            node.breakConnection();
        }
        if (shape.dieOneIn > 0 && random.nextInt(shape.dieOneIn) == 0 && !node.isDead &&
            nodes.stream().filter(other -> !other.isDead).count() > 1)
        {
            node.isDead = true;
            Arrays.stream(node.ports).forEach(StepFabric.StepPort::cut);
        }
    }

    private String verdict()
    {
        if (problem != null)
        {
            return name + ": " + problem;
        }
        final int primary = members.getLast();
        final TableCheck check = new TableChecker(subtables.descriptor(),
            (id, offset, target, lengthBytes) -> fabric.read(primary, offset, target, lengthBytes)).check();
        if (!check.isSound())
        {
            return name + ": " + check;
        }
        final String verdict = workload.verdict();
        return verdict != null ? verdict : copiesDiffer();
    }

    /** Nothing is decided and not committed once nobody has anything under way, unless somebody was cut off. */
    private String copiesDiffer()
    {
        if (nodes.stream().anyMatch(node -> node.isDead) || shape.breakOneIn > 0 || shape.leavesProposals)
        {
            return null;
        }
        final SlotReconciliation words = words();
        final SubtableReconciliation all = reconciliation(words);
        while (all.goOn())
        {
            if (words.wordsChanged() > 0)
            {
                return name + ": copies of a word differ, " + all;
            }
        }
        return null;
    }

    @Override
    public void close()
    {
        nodes.forEach(node ->
        {
            node.leave();
            node.engine.close();
        });
        fabric.close();
    }
}
