package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.check.CopyCheck;
import io.verbena.table.check.CopyChecker;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.mirror.LastMemberPort;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * One seeded run of a few engines on a table that two or three memory nodes hold: engines die, pause and lose their
 * connections, and members are lost, also while the others are made equal, until one is left. Ends with a verdict on
 * the history and on the bytes.
 */
abstract class MirroredRun implements AutoCloseable
{
    /** What is left out of a change of view. */
    enum Flaw
    {
        /** Survivors are made equal while requests of the view that is over may still land. */
        CLOSE_OLD_VIEW,
        /** The next view begins before every engine has left the last one. */
        LEAVE_OLD_VIEW,
        /** Survivors are not made equal. */
        RECONCILE
    }

    static final int NODE = 3;
    static final int TABLE_ID = 77;
    static final long HASH_SEED = 42;
    static final int TABLE_AT = 4096;
    static final int CHUNKS_END = (1 << 16) + (5 << 15);
    static final long LONG_NS = 50_000_000L;
    static final List<byte[]> COLLIDING = CollidingKeys.find(HASH_SEED, 6);
    private static final int CHUNKS_AT = 1 << 16;
    private static final int CHUNK_STRIDE = 1 << 15;
    private static final int BLOCK_BYTES = 192;
    private static final int LONGER_BLOCK_BYTES = 256;
    private static final int MOST_STEPS = 3_000_000;

    final String name;
    final StepFabric fabric;
    final Random random;
    final RaceWorkload workload;
    final TablePlan plan = TablePlan.ofShape("mirror", TABLE_ID, HASH_SEED, 0, 1, new int[]{NODE});
    final List<Node> nodes = new ArrayList<>();
    /** Memory nodes of the view, head first. */
    List<Integer> members = new ArrayList<>();
    long nowNs = 1_000_000;
    long epoch = 1;
    private final long seed;
    private final MirrorShape shape;
    private final Set<Flaw> flaws = EnumSet.noneOf(Flaw.class);
    /** By member, while the view is ended. */
    private boolean[] isLost;
    private boolean[] isClosed;
    private boolean isEnding;
    private BooleanSupplier reconciliation;
    private long view = 1;
    private int losses;
    private long committed;
    private long finished;
    private MirrorObserver observer;
    private String checkProblem;
    /** Checks of the copies, and what they found that nobody had finished. */
    int checks;
    int differences;

    /** A compute node. */
    class Node
    {
        final TableEngine engine;
        final OpenTable table;
        boolean isDead;
        private final RaceWorkload.Clients clients = workload.clients(shape.clients);
        private final RaceWorkload.Scan scan = workload.scan();
        private final Deadlines.Clock clock = new Deadlines.Clock(shape.skewNs);
        private StepFabric.StepPort[] ports = {};
        private MirrorPort mirror;
        private boolean isIn;
        private List<Integer> lastMembers = List.of();
        private long viewOf;
        private boolean isFenced;
        private int pausedFor;
        private long passed;

        Node(final int id)
        {
            engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
                new TableEngineConfiguration().operationSlots(shape.clients).writerNumber(id)
                    .locationCacheEntries(random.nextInt(5) == 0 ? 0 : 64).seed(seed + id).backoffNs(500, 20_000)
                    .versionClock(() -> nowNs).expiryClock(() -> clock.time(nowNs))
                    .operationListener(clients::onComplete)
                    .chunkSource(node -> refuse()).repeatsLostOutcomes(true));
            connect();
            table = engine.openTable(plan.descriptor());
            engine.chunkLeased(
                NODE, CHUNKS_AT + (long)(id - 1) * CHUNK_STRIDE, (long)shape.blocks * BLOCK_BYTES);
            if (Arrays.stream(shape.kinds).anyMatch(kind -> kind == OperationKind.APPEND))
            {
                // Values that grow need blocks of further classes, each of which cuts a slab of its own.
                engine.chunkLeased(NODE, CHUNKS_AT + (long)(id - 1) * CHUNK_STRIDE + CHUNK_STRIDE / 2,
                    (long)shape.blocks * LONGER_BLOCK_BYTES);
            }
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
            final boolean hasNewMember = !lastMembers.containsAll(members);
            lastMembers = members;
            if (members.size() == 1)
            {
                ports = new StepFabric.StepPort[]{fabric.connect(members.getFirst(), engine::onBatchComplete)};
                engine.attach(NODE, new LastMemberPort(ports[0]), hasNewMember);
                return;
            }
            final MirrorPort[] own = new MirrorPort[1];
            ports = members.stream().map(id -> fabric.connect(id, (cookie, status) ->
                own[0].onMemberComplete(cookie, status))).toArray(StepFabric.StepPort[]::new);
            mirror = new MirrorPort(new LocalDomain(), view,
                Arrays.copyOf(ports, ports.length, OneSidedPort[].class), engine::onBatchComplete);
            own[0] = mirror;
            engine.attach(NODE, mirror, hasNewMember);
        }

        /** Posts nothing more in the view, and reports nothing from what it has posted. */
        private void leave()
        {
            failPorts();
            isIn = false;
            if (mirror != null)
            {
                committed += mirror.committed();
                finished += mirror.finished();
                mirror.close();
                mirror = null;
            }
            if (!isDead)
            {
                engine.detach(NODE);
            }
        }

        private void failPorts()
        {
            Arrays.stream(ports).forEach(port -> port.fail(false));
        }

        private boolean isOf(final long number)
        {
            return isIn && viewOf == number;
        }

        /** Answers to what was executed already may be lost with it. */
        final void breakConnection()
        {
            if (!isDead && isOf(view) && !isEnding)
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
            clock.step(random);
            engine.poll();
            workBesides();
            RandomSweep.maybeBegin(engine, table, workload.isAllBegun() ? 0 : shape.sweepOneIn, random, nowNs);
            scan.maybeBegin(engine, table, workload.isAllBegun() ? 0 : shape.scanOneIn, nowNs + LONG_NS);
            engine.beginGroup();
            for (int i = shape.groups ? shape.clients : 1; i > 0; i--)
            {
                clients.maybeBegin(engine, table, nowNs + LONG_NS);
            }
            engine.endGroup();
            if (random.nextInt(20) == 0)
            {
                passed = engine.passedEpoch();
                onEpoch();
                engine.onEpoch(epoch, safeEpoch());
            }
        }

        /** What it does beside operations. */
        void workBesides()
        {
        }

        /** Before it hears of the epoch, perhaps again. */
        void onEpoch()
        {
        }

        boolean isBusy()
        {
            return !isDead && (engine.active() > 0 || engine.sweep().isRunning() || engine.scan().isBusy() ||
                Arrays.stream(ports).anyMatch(port -> !port.isIdle()));
        }

        @Override
        public String toString()
        {
            return engine + " " + mirror;
        }
    }

    MirroredRun(final long seed, final MirrorShape shape, final Flaw... flaws)
    {
        this.seed = seed;
        this.shape = shape;
        this.flaws.addAll(List.of(flaws));
        name = "seed " + seed;
        fabric = new StepFabric(seed);
        random = fabric.random;
        workload = new RaceWorkload(name, random, COLLIDING.subList(0, shape.keys), shape.kinds, shape.operations);
        workload.expire(shape.skewNs);
        plan.place(NODE, TABLE_AT);
    }

    /** Adds the members, each with the table's first subtable. */
    final void addMembers(final int memoryBytes)
    {
        for (int id = 1; id <= shape.copies; id++)
        {
            format(fabric.addMemory(id, memoryBytes));
            members.add(id);
        }
    }

    static void format(final UnsafeBuffer memory)
    {
        SubtableDescriptor.write(memory, TABLE_AT, TABLE_ID, 0, 0, 1, HASH_SEED, 0);
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            memory.putLong(
                TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES,
                BucketDescriptor.header(TABLE_ID, 0, 0), LITTLE_ENDIAN);
        }
    }

    /** @return memory of nodes that come in with the next view. */
    abstract List<SlotReconciliation.Copy> entering();

    /** Before the next view begins with these members, head first. */
    abstract void onNextView(List<Integer> next);

    /** What else happens at times. */
    abstract void stepBesides();

    /** @return what makes the next word equal, each time, and is false when all are. */
    abstract BooleanSupplier reconciliation(SlotReconciliation words);

    /** @return the newest one. */
    abstract TableDescriptor descriptor();

    /** Coordinates what nodes do beside operations. */
    abstract void coordinateBesides();

    /** @return what was seen that must not happen, or null. */
    abstract String problem();

    final long safeEpoch()
    {
        return Math.min(nodes.stream().filter(node -> !node.isFenced).mapToLong(node -> node.passed).min().orElse(0),
            observer == null ? Long.MAX_VALUE : observer.passed());
    }

    final boolean isEnding()
    {
        return isEnding;
    }

    final long primaryWord(final long offset)
    {
        return fabric.memory(members.getLast()).getLong((int)offset, LITTLE_ENDIAN);
    }

    /** The epoch goes on when every live engine knows the present one; those that died are fenced first. */
    private void coordinate()
    {
        coordinateBesides();
        if (safeEpoch() >= epoch - 1)
        {
            epoch++;
        }
        for (final Node node : nodes)
        {
            if (node.isDead && !node.isFenced && random.nextInt(50) == 0)
            {
                node.failPorts();
                node.isFenced = true;
            }
        }
    }

    private void loseMember()
    {
        final int member = random.nextInt(members.size());
        beginEnding();
        if (!isLost[member] && IntStream.range(0, isLost.length).filter(i -> !isLost[i]).count() > 1)
        {
            losses++;
            isLost[member] = true;
            reconciliation = null;
            // Else it is declared lost, and answers still.
            if (!shape.isZombie)
            {
                close(member);
            }
        }
    }

    final void beginEnding()
    {
        if (!isEnding)
        {
            isEnding = true;
            isLost = new boolean[members.size()];
            isClosed = new boolean[members.size()];
        }
    }

    /** Nothing of the view lands there any more. */
    private void close(final int member)
    {
        isClosed[member] = true;
        nodes.stream().filter(node -> node.isOf(view)).forEach(node -> node.ports[member].fail(false));
    }

    /** A step of the change of view. */
    private void goOnEnding()
    {
        for (int member = 0; member < members.size() && !flaws.contains(Flaw.CLOSE_OLD_VIEW); member++)
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
            if (!flaws.contains(Flaw.LEAVE_OLD_VIEW) && node.isOf(view) &&
                (!node.isDead || !flaws.contains(Flaw.CLOSE_OLD_VIEW)))
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
            reconciliation = reconciliation(words(entering()));
        }
        if (flaws.contains(Flaw.RECONCILE) || !reconciliation.getAsBoolean())
        {
            activate();
        }
    }

    private SlotReconciliation words(final List<SlotReconciliation.Copy> entering)
    {
        final boolean[] survivors = new boolean[members.size()];
        for (int i = 0; i < survivors.length; i++)
        {
            survivors[i] = !isEnding || !isLost[i];
        }
        return new SlotReconciliation(
            members.stream().<SlotReconciliation.Copy>map(id -> new MemoryCopy(fabric.memory(id))).toList(),
            survivors, entering);
    }

    private void activate()
    {
        members = new ArrayList<>(IntStream.range(0, isLost.length).filter(i -> !isLost[i])
            .mapToObj(members::get).toList());
        onNextView(members);
        view++;
        isEnding = false;
        reconciliation = null;
        nodes.stream().filter(node -> !node.isDead && !node.isIn).forEach(Node::connect);
    }

    /** @return null when all is well, else what is wrong. */
    final String run()
    {
        int steps = 0;
        while (!workload.isAllBegun() || isEnding || nodes.stream().anyMatch(Node::isBusy))
        {
            if (++steps > MOST_STEPS)
            {
                return name + ": does not end; " + nodes;
            }
            goOn();
            if (shape.checkOneIn > 0 && random.nextInt(shape.checkOneIn) == 0 && !workload.isAllBegun())
            {
                check();
            }
        }
        return verdict();
    }

    /** Compares the copies while engines go on. */
    private void check()
    {
        observer = new MirrorObserver(this);
        final CopyCheck check = new CopyChecker(observer).check(descriptor());
        checks++;
        differences += check.differences().size();
        if (!check.isSound() || !check.differences().isEmpty() && !shape.leavesRounds())
        {
            checkProblem = check.toString();
        }
        observer = null;
    }

    final void goOn()
    {
        nowNs += 20 + random.nextInt(60);
        workload.tick(nowNs);
        step();
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
        if (node.isIn && !node.isDead && node.viewOf < view && random.nextInt(300) == 0)
        {
            // Later than it ought to: it has read what is no copy any more.
            node.leave();
            node.connect();
        }
        stepBesides();
        fail(node);
    }

    private void fail(final Node node)
    {
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
        if (checkProblem != null)
        {
            return name + ": " + checkProblem;
        }
        if (problem() != null)
        {
            return name + ": " + problem();
        }
        for (final int member : leavesRounds() ? List.of(members.getLast()) : members)
        {
            final TableCheck check = new TableChecker(descriptor(),
                (id, offset, target, lengthBytes) -> fabric.read(member, offset, target, lengthBytes)).check();
            if (!check.isSound())
            {
                return name + ": " + check;
            }
        }
        final String verdict = workload.verdict();
        return verdict != null ? verdict : copiesDiffer();
    }

    /** Nothing is decided and not committed once nobody has anything under way, unless somebody was cut off. */
    private String copiesDiffer()
    {
        if (leavesRounds())
        {
            return null;
        }
        final SlotReconciliation words = words(List.of());
        final BooleanSupplier all = reconciliation(words);
        while (all.getAsBoolean())
        {
            if (words.wordsChanged() > 0)
            {
                return name + ": copies of a word differ";
            }
        }
        return null;
    }

    private boolean leavesRounds()
    {
        return nodes.stream().anyMatch(node -> node.isDead) || shape.leavesRounds();
    }

    final EngineCounters counters()
    {
        return CounterSum.of(nodes.stream().map(node -> node.engine.counters()).toList());
    }

    final int losses()
    {
        return losses;
    }

    final long committed()
    {
        return committed + nodes.stream().filter(node -> node.mirror != null)
            .mapToLong(node -> node.mirror.committed()).sum();
    }

    final long finished()
    {
        return finished + nodes.stream().filter(node -> node.mirror != null)
            .mapToLong(node -> node.mirror.finished()).sum();
    }

    @Override
    public final void close()
    {
        nodes.forEach(node ->
        {
            node.leave();
            node.engine.close();
        });
        fabric.close();
    }
}
