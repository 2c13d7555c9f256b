package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * One seeded run of a few engines on a table that two or three memory nodes hold: engines die, pause and lose their
 * connections, and members are lost, also while the others are made equal, until one is left. Ends with a verdict on
 * the history and on the bytes.
 */
final class MirrorRun implements AutoCloseable
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

    /** What a run may contain. */
    static final class Shape
    {
        int copies;
        int engines;
        int clients;
        int keys;
        int operations = 60;
        int blocks = 60;
        /** One step in so many; 0: never. */
        int loseOneIn;
        int dieOneIn;
        int breakOneIn;
        boolean isZombie;
        /** Slots that claims of inserts that ended long ago have taken, so that the emptier pair of a key changes. */
        int deadWords;
        int[] kinds = {0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6};

        static Shape of(final long seed)
        {
            final Random random = new Random(seed * 37 + 11);
            final Shape shape = new Shape();
            shape.copies = 2 + random.nextInt(2);
            shape.engines = 2 + random.nextInt(2);
            shape.clients = 1 + random.nextInt(2);
            shape.keys = 1 + random.nextInt(3);
            shape.loseOneIn = random.nextInt(3) == 0 ? 0 : 1500;
            shape.dieOneIn = random.nextInt(3) == 0 ? 3000 : 0;
            shape.breakOneIn = random.nextInt(3) == 0 ? 1000 : 0;
            shape.isZombie = random.nextBoolean();
            shape.kinds = switch (random.nextInt(4))
            {
                case 0 -> shape.kinds;
                case 1 -> new int[]{0, 0, 2, 3, 3, 5, 5};
                case 2 -> new int[]{0, 2, 4, 7, 7, 7, 7, 5};
                default -> new int[]{0, 2, 2, 4, 5};
            };
            return shape;
        }

        /** Two keys that come and go, where most slots are taken. */
        static Shape inserting(final long seed)
        {
            final Shape shape = of(seed);
            shape.engines = 3;
            shape.keys = 2;
            shape.operations = 150;
            shape.breakOneIn = 0;
            shape.kinds = new int[]{2, 3, 3, 5, 5};
            shape.deadWords = 14 + (int)(seed % 7);
            return shape;
        }
    }

    private static final int NODE = 3;
    private static final long HASH_SEED = 42;
    private static final int TABLE_AT = 4096;
    private static final int CHUNKS_AT = 1 << 16;
    private static final int CHUNK_STRIDE = 1 << 15;
    private static final int BLOCK_BYTES = 192;
    private static final int MEMORY_BYTES = CHUNKS_AT + 5 * CHUNK_STRIDE;
    private static final List<byte[]> COLLIDING = CollidingKeys.find(HASH_SEED, 6);

    private final long seed;
    private final Shape shape;
    private final Set<Flaw> flaws;
    private final StepFabric fabric;
    private final Random random;
    private final RaceWorkload workload;
    private final TablePlan plan = TablePlan.ofShape("mirror", 77, HASH_SEED, 0, 1, new int[]{NODE});
    private final List<Node> nodes = new ArrayList<>();
    /** Memory nodes of the view, head first. */
    private List<Integer> members = new ArrayList<>();
    /** By member, while the view is ended. */
    private boolean[] isLost;
    private boolean[] isClosed;
    private boolean isEnding;
    private SlotReconciliation reconciliation;
    private int reconciled;
    private long view = 1;
    private long nowNs = 1_000_000;
    private long epoch = 1;
    private int losses;
    private long committed;
    private long finished;

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
        private long passed;

        private Node(final int id)
        {
            engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
                new TableEngineConfiguration().operationSlots(shape.clients).writerNumber(id)
                    .locationCacheEntries(random.nextInt(5) == 0 ? 0 : 64).seed(seed + id).backoffNs(500, 20_000)
                    .versionClock(() -> nowNs).operationListener(clients::onComplete)
                    .chunkSource(node -> refuse()).repeatsLostOutcomes(true));
            connect();
            table = engine.openTable(plan.descriptor());
            engine.chunkLeased(NODE, CHUNKS_AT + (long)(id - 1) * CHUNK_STRIDE, (long)shape.blocks * BLOCK_BYTES);
        }

        private void refuse()
        {
            engine.chunkRefused(NODE);
        }

        private void connect()
        {
            ports = new StepFabric.StepPort[members.size()];
            isIn = true;
            viewOf = view;
            if (members.size() == 1)
            {
                mirror = null;
                ports[0] = fabric.connect(members.getFirst(), engine::onBatchComplete);
                engine.attach(NODE, ports[0]);
                return;
            }
            final MirrorPort[] own = new MirrorPort[1];
            for (int i = 0; i < ports.length; i++)
            {
                ports[i] = fabric.connect(
                    members.get(i), (cookie, status) -> own[0].onMemberComplete(cookie, status));
            }
            mirror = new MirrorPort(new LocalDomain(), view,
                List.of(ports).toArray(new OneSidedPort[0]), engine::onBatchComplete);
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
            endMirror();
            if (!isDead)
            {
                engine.detach(NODE);
            }
        }

        private void endMirror()
        {
            if (mirror != null)
            {
                committed += mirror.committed();
                finished += mirror.finished();
                mirror.close();
                mirror = null;
            }
        }

        /** Answers to what was executed already may be lost with it. */
        private void breakConnection()
        {
            for (final StepFabric.StepPort port : ports)
            {
                port.fail(false);
            }
            endMirror();
            engine.detach(NODE);
            connect();
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
            engine.beginGroup();
            clients.maybeBegin(engine, table, nowNs + 50_000_000L);
            engine.endGroup();
            if (random.nextInt(20) == 0)
            {
                passed = engine.passedEpoch();
                engine.onEpoch(epoch, safeEpoch());
            }
        }

        private boolean isBusy()
        {
            return !isDead && (engine.active() > 0 || List.of(ports).stream().anyMatch(port -> !port.isIdle()));
        }
    }

    MirrorRun(final long seed, final Shape shape, final Flaw... flaws)
    {
        this.seed = seed;
        this.shape = shape;
        this.flaws = EnumSet.noneOf(Flaw.class);
        this.flaws.addAll(List.of(flaws));
        fabric = new StepFabric(seed);
        random = fabric.random;
        workload = new RaceWorkload(
            "seed " + seed, random, COLLIDING.subList(0, shape.keys), shape.kinds, shape.operations);
        plan.place(NODE, TABLE_AT);
        for (int id = 1; id <= shape.copies; id++)
        {
            format(fabric.addMemory(id, MEMORY_BYTES));
            members.add(id);
        }
        for (int i = 0; i < shape.deadWords; i++)
        {
            leaveDeadWord(random.nextInt(BucketDescriptor.SLOTS_PER_GROUP), i);
        }
        for (int id = 1; id <= shape.engines; id++)
        {
            nodes.add(new Node(id));
        }
    }

    private static void format(final UnsafeBuffer memory)
    {
        SubtableDescriptor.write(memory, TABLE_AT, 77, 0, 0, 1, HASH_SEED, 0);
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            memory.putLong(bucketAt(bucket), BucketDescriptor.header(77, 0, 0), LITTLE_ENDIAN);
        }
    }

    /** As a delete leaves it whose engine has ended. */
    private void leaveDeadWord(final int slot, final int version)
    {
        final long word = SlotWord.withKind(
            SlotWord.committed(1, 0, version, 2, SlotWord.BLOCK_ALIGNMENT_BYTES), SlotWord.KIND_TENTATIVE);
        members.forEach(id -> fabric.memory(id).putLong((int)slotAt(slot), word, LITTLE_ENDIAN));
    }

    private static int bucketAt(final int bucket)
    {
        return TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES;
    }

    private static long slotAt(final int slot)
    {
        return bucketAt(slot / BucketDescriptor.SLOTS_PER_BUCKET) + BucketDescriptor.SLOTS_OFFSET +
            (long)slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    private long safeEpoch()
    {
        return nodes.stream().filter(node -> !node.isFenced).mapToLong(node -> node.passed).min().orElse(0);
    }

    /** The epoch goes on when every live engine knows the present one; those that died are fenced first. */
    private void coordinate()
    {
        if (safeEpoch() >= epoch - 1)
        {
            epoch++;
        }
        for (final Node node : nodes)
        {
            if (node.isDead && !node.isFenced && random.nextInt(50) == 0)
            {
                for (final StepFabric.StepPort port : node.ports)
                {
                    port.fail(false);
                }
                node.isFenced = true;
            }
        }
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
        final int left = left();
        if (!isLost[member] && left > 1)
        {
            losses++;
            isLost[member] = true;
            reconciliation = null;
            reconciled = 0;
            // Else it is declared lost, and answers still.
            if (!shape.isZombie)
            {
                close(member);
            }
        }
    }

    private int left()
    {
        int left = 0;
        for (final boolean lost : isLost)
        {
            left += lost ? 0 : 1;
        }
        return left;
    }

    /** Nothing of the view lands there any more. */
    private void close(final int member)
    {
        isClosed[member] = true;
        for (final Node node : nodes)
        {
            if (node.isIn && node.viewOf == view)
            {
                node.ports[member].fail(false);
            }
        }
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
        if (!flaws.contains(Flaw.LEAVE_OLD_VIEW))
        {
            for (final Node node : nodes)
            {
                if (node.isIn && node.viewOf == view && (!node.isDead || !flaws.contains(Flaw.CLOSE_OLD_VIEW)))
                {
                    if (node.pausedFor <= 0)
                    {
                        node.leave();
                    }
                    return;
                }
            }
        }
        if (reconciliation == null)
        {
            reconciliation = new SlotReconciliation(
                members.stream().<SlotReconciliation.Copy>map(id -> new MemoryCopy(fabric.memory(id))).toList(),
                survivors());
        }
        if (reconciled < BucketDescriptor.SLOTS_PER_GROUP && !flaws.contains(Flaw.RECONCILE))
        {
            reconciliation.reconcile(slotAt(reconciled++));
            return;
        }
        activate();
    }

    private boolean[] survivors()
    {
        final boolean[] survivors = new boolean[isLost.length];
        for (int i = 0; i < survivors.length; i++)
        {
            survivors[i] = !isLost[i];
        }
        return survivors;
    }

    private void activate()
    {
        final List<Integer> next = new ArrayList<>();
        for (int i = 0; i < isLost.length; i++)
        {
            if (!isLost[i])
            {
                next.add(members.get(i));
            }
        }
        members = next;
        view++;
        isEnding = false;
        reconciliation = null;
        reconciled = 0;
        for (final Node node : nodes)
        {
            if (!node.isDead && !node.isIn)
            {
                node.connect();
            }
        }
    }

    /** @return null when all is well, else what is wrong. */
    String run()
    {
        int steps = 0;
        while (!workload.isAllBegun() || isEnding || nodes.stream().anyMatch(Node::isBusy))
        {
            if (++steps > 2_000_000)
            {
                return "seed " + seed + ": does not end; " +
                    nodes.stream().map(node -> node.engine + " " + node.mirror).toList();
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
        if (node.isIn && !node.isDead && node.viewOf < view && random.nextInt(300) == 0)
        {
            // Later than it ought to: it has read what is no copy any more.
            node.leave();
            node.connect();
        }
        if (shape.loseOneIn > 0 && members.size() > 1 && random.nextInt(shape.loseOneIn) == 0)
        {
            loseMember();
        }
        if (shape.breakOneIn > 0 && random.nextInt(shape.breakOneIn) == 0 && !node.isDead && node.isIn &&
            node.viewOf == view && !isEnding)
        {
            node.breakConnection();
        }
        if (shape.dieOneIn > 0 && random.nextInt(shape.dieOneIn) == 0 && !node.isDead &&
            nodes.stream().filter(other -> !other.isDead).count() > 1)
        {
            node.isDead = true;
            for (final StepFabric.StepPort port : node.ports)
            {
                port.cut();
            }
        }
    }

    private String verdict()
    {
        final int primary = members.getLast();
        final TableCheck check = new TableChecker(plan.descriptor(),
            (id, offset, target, lengthBytes) -> fabric.read(primary, offset, target, lengthBytes)).check();
        if (!check.isSound())
        {
            return "seed " + seed + ": " + check;
        }
        final String verdict = workload.verdict();
        return verdict != null ? verdict : copiesDiffer();
    }

    /** Nothing is decided and not committed once nobody has anything under way, unless somebody has died. */
    private String copiesDiffer()
    {
        if (nodes.stream().anyMatch(node -> node.isDead) || shape.breakOneIn > 0)
        {
            return null;
        }
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int at = (int)slotAt(slot);
            final long word = fabric.memory(members.getLast()).getLong(at, LITTLE_ENDIAN);
            for (final int member : members)
            {
                if (fabric.memory(member).getLong(at, LITTLE_ENDIAN) != word)
                {
                    return "seed " + seed + ": copies of slot " + slot + " differ";
                }
            }
        }
        return null;
    }

    int losses()
    {
        return losses;
    }

    long committed()
    {
        return committed + nodes.stream().filter(node -> node.mirror != null)
            .mapToLong(node -> node.mirror.committed()).sum();
    }

    long finished()
    {
        return finished + nodes.stream().filter(node -> node.mirror != null)
            .mapToLong(node -> node.mirror.finished()).sum();
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
