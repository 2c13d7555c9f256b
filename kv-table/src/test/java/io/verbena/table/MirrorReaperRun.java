package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.HeldConsumer;
import io.verbena.table.check.OrphanScan;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.Superblock;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * One seeded run of an engine that dies between any two verbs on a table with several copies, of a reaper that scans
 * its chunk, and of another engine beside them. What is unnamed is written over on all copies, as its next owner would;
 * then members may be lost, and the others are made equal. Ends with a verdict.
 */
final class MirrorReaperRun implements AutoCloseable
{
    private static final int NODE = 3;
    private static final int TABLE_AT = MirroredRun.TABLE_AT;
    private static final int CHUNK_BYTES = 1 << 15;
    private static final int MEMORY_BYTES = 5 * CHUNK_BYTES;
    /** By engine. */
    private static final int VICTIM = 1;
    private static final int RIVAL = 2;
    private static final int REAPER = 3;
    private static final int CHUNK = 2;
    private static final int BLOCKS_BYTES = 64 * 64;
    private static final int COOKIE = 9999;
    private static final int MOST_STEPS = 50_000;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final int VALUE_BYTES = 40;
    private static final byte GARBAGE = 0x5A;
    private static final int[] KINDS = {
        OperationKind.PUT, OperationKind.PUT_IF_ABSENT, OperationKind.REPLACE, OperationKind.DELETE};

    private final StepFabric fabric;
    private final Random random;
    private final String name;
    private final int copies;
    private final TablePlan plan = TablePlan.ofShape("mirror", 7, 42, 0, 1, new int[]{NODE});
    private final List<MemorySegment> keys;
    private final List<Node> nodes = new ArrayList<>();
    private final List<RegionAccess> accesses = new ArrayList<>();
    private long nowNs = 1;
    long killed;
    long named;

    /** An engine with its connections, and what it was answered last. */
    private final class Node
    {
        private final TableEngine engine;
        private final OpenTable table;
        private final StepFabric.StepPort[] ports = new StepFabric.StepPort[copies];
        private final MirrorPort mirror;
        private RegionAccess access;
        private int result = -1;
        private long value;

        private Node(final int id)
        {
            engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
                new TableEngineConfiguration().operationSlots(2).writerNumber(id).seed(random.nextLong())
                    .operationListener(this::onComplete).chunkSource(node -> { }));
            for (int i = 0; i < copies; i++)
            {
                ports[i] = fabric.connect(i + 1, (cookie, status) -> mirror().onMemberComplete(cookie, status));
            }
            mirror = new MirrorPort(
                new LocalDomain(), 1, Arrays.copyOf(ports, copies, OneSidedPort[].class), this::onBatch);
            engine.attach(NODE, mirror);
            if (id != REAPER)
            {
                engine.chunkLeased(NODE, (long)(CHUNK + id - VICTIM) * CHUNK_BYTES, BLOCKS_BYTES);
            }
            table = engine.openTable(plan.descriptor());
            nodes.add(this);
        }

        private MirrorPort mirror()
        {
            return mirror;
        }

        private void onBatch(final int cookie, final int status)
        {
            if (cookie == COOKIE)
            {
                access.onComplete(status);
            }
            else
            {
                engine.onBatchComplete(cookie, status);
            }
        }

        private void onComplete(final Operation operation)
        {
            result = operation.result();
            value = 0;
            if (result == OperationResult.FOUND)
            {
                value = MirrorReaperRun.value(operation);
            }
        }

        private void begin(final int kind, final int key, final long newValue)
        {
            result = -1;
            final TableRequest request =
                new TableRequest().of(kind, table, NEVER_NS, 1).key(keys.get(key), 0, Long.BYTES);
            if (OperationKind.takesValue(kind))
            {
                final long[] words = new long[VALUE_BYTES / Long.BYTES];
                Arrays.fill(words, newValue);
                final byte[] bytes = new byte[VALUE_BYTES];
                MemorySegment.ofArray(bytes).copyFrom(MemorySegment.ofArray(words));
                request.value(MemorySegment.ofArray(bytes), 0, VALUE_BYTES);
            }
            engine.begin(request);
        }

        private void poll()
        {
            mirror.poll();
            engine.poll();
        }

        private void end()
        {
            Arrays.stream(ports).forEach(port -> port.fail(false));
            mirror.close();
        }
    }

    MirrorReaperRun(final long seed)
    {
        fabric = new StepFabric(seed);
        random = fabric.random;
        name = "seed " + seed;
        copies = 2 + (int)(seed % 2);
        plan.place(NODE, TABLE_AT);
        keys = List.of(new PreparedSubtables(null, 42).keyOf(0, 0, 0), new PreparedSubtables(null, 42).keyOf(0, 0, 1));
        for (int id = 1; id <= copies; id++)
        {
            new PreparedSubtables(fabric.addMemory(id, MEMORY_BYTES), 42).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
        }
        new Node(VICTIM);
        new Node(RIVAL);
        new Node(REAPER);
    }

    private static long value(final Operation operation)
    {
        final byte[] bytes = new byte[operation.valueLength()];
        operation.copyValueTo(bytes);
        final long[] words = new long[bytes.length / Long.BYTES];
        MemorySegment.ofArray(words).copyFrom(MemorySegment.ofArray(bytes));
        return Arrays.stream(words).allMatch(word -> word == words[0]) ? words[0] : -1;
    }

    private Node node(final int id)
    {
        return nodes.get(id - 1);
    }

    private void steps(final int count, final Node... live)
    {
        for (int i = 0; i < count; i++)
        {
            nowNs += 50;
            if (random.nextInt(3) > 0)
            {
                fabric.step();
            }
            else
            {
                live[random.nextInt(live.length)].poll();
            }
        }
    }

    /** @return false if that takes too long. */
    private boolean finish(final Node node)
    {
        for (int i = 0; i < MOST_STEPS && node.engine.active() > 0; i++)
        {
            steps(1, node);
        }
        return node.engine.active() == 0;
    }

    /** @return null when all is well, else what is wrong. */
    String run()
    {
        final Node victim = node(VICTIM);
        final Node rival = node(RIVAL);
        for (int key = 0; key < keys.size(); key++)
        {
            if (random.nextBoolean())
            {
                victim.begin(OperationKind.PUT, key, 100 + key);
                finish(victim);
            }
        }
        victim.begin(KINDS[random.nextInt(KINDS.length)], 0, 200);
        final boolean isContended = random.nextBoolean();
        if (isContended)
        {
            rival.begin(KINDS[random.nextInt(KINDS.length)], 0, 300);
        }
        steps(random.nextInt(90), victim, rival);
        Arrays.stream(victim.ports).forEach(StepFabric.StepPort::cut);
        steps(random.nextInt(20), rival);
        victim.end();
        // What was begun before the chunk was closed is over, by the epochs.
        if (!finish(rival))
        {
            return name + ": does not end: " + rival.engine;
        }
        final int kind = random.nextInt(3) == 0 ? OperationKind.GET : KINDS[random.nextInt(KINDS.length)];
        final int key = random.nextInt(keys.size());
        final OrphanScan scan = scan();
        rival.begin(kind, key, 400);
        for (int i = 0; i < MOST_STEPS && !scan.isDone(); i++)
        {
            steps(1, random.nextInt(4) == 0 ? rival : node(REAPER));
            scan.poll();
        }
        if (!scan.isComplete() || !finish(rival))
        {
            return name + ": the scan does not end: " + rival.engine;
        }
        killed = scan.killed();
        writeOver(scan);
        nodes.forEach(node -> Arrays.stream(node.ports).forEach(port -> port.fail(false)));
        return verdict(kind, key, rival);
    }

    private OrphanScan scan()
    {
        final Node reaper = node(REAPER);
        reaper.access = new RegionAccess(new LocalDomain(), COOKIE);
        accesses.add(reaper.access);
        final BitSet closed = new BitSet();
        closed.set(CHUNK);
        final ChunkView view = new ChunkView(
            new Superblock(NODE, 1, MEMORY_BYTES, 0, CHUNK_BYTES, MEMORY_BYTES / CHUNK_BYTES, 0));
        return new OrphanScan(reaper.access, reaper.mirror, NODE, view, closed, List.of(plan.descriptor()),
            () -> true, reaper.engine::emptiedWord);
    }

    private void writeOver(final OrphanScan scan)
    {
        final TableEngine engine = node(REAPER).engine;
        named = CHUNK_BYTES - scan.takeOver(CHUNK, engine, NODE);
        engine.allocator(NODE).forEachHeld((state, offset, lengthBytes) ->
        {
            if (state == HeldConsumer.QUARANTINED)
            {
                IntStream.rangeClosed(1, copies).forEach(
                    id -> fabric.memory(id).setMemory((int)offset, (int)lengthBytes, GARBAGE));
            }
        });
    }

    private String verdict(final int kind, final int key, final Node rival)
    {
        final boolean[] survivors = new boolean[copies];
        survivors[random.nextInt(copies)] = true;
        for (int i = 0; i < copies; i++)
        {
            survivors[i] |= random.nextInt(3) == 0;
        }
        final SlotReconciliation words = new SlotReconciliation(IntStream.rangeClosed(1, copies)
            .<SlotReconciliation.Copy>mapToObj(id -> new MemoryCopy(fabric.memory(id))).toList(), survivors);
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            words.reconcile(EnteringRun.slotAt(slot));
        }
        for (int i = 0; i < copies; i++)
        {
            final int member = i + 1;
            final TableCheck check = new TableChecker(plan.descriptor(),
                (id, offset, target, lengthBytes) -> fabric.read(member, offset, target, lengthBytes)).check();
            if (survivors[i] && !check.isSound())
            {
                return name + ": copy " + member + " of " + Arrays.toString(survivors) + ": " + check;
            }
        }
        return answers(kind, key, rival, IntStream.range(0, copies).filter(i -> survivors[i]).findFirst().orElse(0));
    }

    /** What was acknowledged is there, and everything can be read, written and read again. */
    private String answers(final int kind, final int key, final Node rival, final int survivor)
    {
        fabric.inOrder = true;
        final int[] result = {-1};
        final long[] value = new long[1];
        try (TableEngine engine = TableEngine.open(new LocalDomain(), LocalDomain.attributes(false), () -> nowNs,
            new TableEngineConfiguration().operationSlots(1).writerNumber(9).chunkSource(node -> { })
                .operationListener(operation ->
                {
                    result[0] = operation.result();
                    value[0] = result[0] == OperationResult.FOUND ? value(operation) : 0;
                })))
        {
            final StepFabric.StepPort port = fabric.connect(survivor + 1, engine::onBatchComplete);
            engine.attach(NODE, port);
            final OpenTable table = engine.openTable(plan.descriptor());
            engine.begin(new TableRequest().of(OperationKind.GET, table, NEVER_NS, 1).key(
                keys.get(key), 0, Long.BYTES));
            for (int i = 0; i < MOST_STEPS && engine.active() > 0; i++)
            {
                nowNs += 50;
                fabric.step();
                engine.poll();
            }
            port.fail(false);
            engine.detach(NODE);
        }
        if (value[0] < 0 || result[0] != OperationResult.FOUND && result[0] != OperationResult.NOT_FOUND)
        {
            return name + ": " + OperationResult.name(result[0]) + " value=" + value[0];
        }
        final boolean isStored = rival.result == OperationResult.STORED && value[0] != 400;
        final boolean isDeleted = rival.result == OperationResult.DELETED && value[0] != 0;
        return isStored || isDeleted ? name + ": lost: " + OperationKind.name(kind) + " value=" + value[0] : null;
    }

    @Override
    public void close()
    {
        nodes.forEach(node ->
        {
            node.end();
            node.engine.detach(NODE);
            node.engine.close();
        });
        accesses.forEach(RegionAccess::close);
        fabric.close();
    }
}
