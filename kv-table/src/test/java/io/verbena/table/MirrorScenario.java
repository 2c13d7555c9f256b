package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.explore.SimActor;
import io.verbena.rdma.sim.explore.SimExploration;
import io.verbena.rdma.sim.explore.SimExplorer;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.mirror.MirrorPort;
import io.verbena.table.mirror.SlotReconciliation;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A few operations on one key of a table with several copies, one engine each, over simulated queue pairs of their own;
 * and at any moment members may be lost, upon which the survivors close the view one after the other, are made equal
 * and are used under the next one. Judged by the history that the clients saw, with a last GET, and by the words of
 * each survivor.
 */
final class MirrorScenario implements SimExplorer.Scenario
{
    private static final int NODE = 3;
    private static final long HASH_SEED = 42;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_BYTES = 1024;
    private static final int CHUNKS_AT = 8192;
    private static final int REGION_BYTES = 1 << 14;
    private static final int PREPARER = 0;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final long TIMER_NS = 500_000_000L;

    /**
     * What races.
     *
     * @param kinds     operation of each engine.
     * @param isPresent whether the key is there before.
     * @param isCached  whether each engine knows its location.
     * @param copies    2 or 3.
     * @param lost      members that are lost, one bit each, the head being the first; 0: none.
     */
    record Race(int[] kinds, boolean isPresent, boolean isCached, int copies, int lost)
    {
        @Override
        public String toString()
        {
            return Arrays.stream(kinds).mapToObj(KindsTogether::name).toList() + (isPresent ? " present" : " absent") +
                (isCached ? " cached" : " cold") + " copies=" + copies + " lost=" + Integer.toBinaryString(lost);
        }

        private boolean survives(final int member)
        {
            return (lost >> member & 1) == 0;
        }
    }

    /** An engine with one operation. */
    private final class EngineActor implements SimActor
    {
        private final int index;
        private TableEngine engine;
        private ProtectionDomain domain;
        private SimQueuePairPort[] ports;
        private MirrorPort mirror;
        private OpenTable table;
        private boolean hasLeft;

        private EngineActor(final int index)
        {
            this.index = index;
        }

        @Override
        public int doWork()
        {
            int worked = 0;
            for (final SimQueuePairPort port : ports)
            {
                worked += hasLeft ? port.poll((cookie, status) -> { }) :
                    mirror == null ? port.poll(engine) : port.poll(this::onComplete);
            }
            return worked + (hasLeft || mirror == null ? 0 : mirror.poll()) + engine.poll();
        }

        /** Each request that is cut off is answered here, not each batch: the port's state shows that. */
        private void onComplete(final int cookie, final int status)
        {
            if (status == WorkCompletionStatus.SUCCESS)
            {
                mirror.onMemberComplete(cookie, status);
            }
        }

        /** One that a survivor has cut off posts nothing more, and waits for the view's end. */
        @Override
        public boolean isDone()
        {
            return engine.active() == 0 || hasLeft || mirror != null && mirror.isFailed();
        }

        @Override
        public boolean isOnItsOwn()
        {
            return index == PREPARER || race.lost == 0 && exploration.hasBegun(devices[index]);
        }

        @Override
        public String roleName()
        {
            return "engine-" + index;
        }

        private void leave()
        {
            hasLeft = true;
            mirror.close();
            engine.detach(NODE);
        }
    }

    /** Ends the view: closes it at one survivor after the other, with a request in between that takes its time. */
    private final class ViewActor implements SimActor
    {
        private final SimDevice device;
        private final SimQueuePairPort[] ports;
        private final MemoryRegion scratch;
        private int closed;
        private boolean isWaiting;
        private boolean isOver;

        private ViewActor(final SimDevice device, final ProtectionDomain domain, final SimQueuePairPort[] ports)
        {
            this.device = device;
            this.ports = ports;
            scratch = domain.allocateRegistered(Long.BYTES, AccessFlags.LOCAL_WRITE);
        }

        @Override
        public int doWork()
        {
            int worked = 0;
            for (final SimQueuePairPort port : ports)
            {
                worked += port.poll((cookie, status) -> isWaiting = false);
            }
            if (isOver || isWaiting || device.clock().nanoTime() <= TIMER_NS)
            {
                return worked;
            }
            while (closed < race.copies && !race.survives(closed))
            {
                closed++;
            }
            if (closed < race.copies && !isFlawed)
            {
                Arrays.stream(actors).forEach(actor -> actor.ports[closed].cutOff());
                ports[closed].begin();
                ports[closed].read(scratch, 0, Long.BYTES, TABLE_AT);
                ports[closed].complete(0);
                isWaiting = true;
                closed++;
                return 1;
            }
            isOver = true;
            IntStream.range(1, actors.length).filter(i -> !devices[i].isKilled()).forEach(i -> actors[i].leave());
            reconcile();
            return 1;
        }

        @Override
        public boolean isDone()
        {
            return isOver;
        }

        @Override
        public long stateHash()
        {
            return closed * 4L + (isWaiting ? 2 : 0) + (isOver ? 1 : 0) + 8;
        }

        @Override
        public String roleName()
        {
            return "view";
        }
    }

    private final Race race;
    private final Map<String, String> verdicts;
    private final EngineActor[] actors;
    private final SimDevice[] devices;
    private final List<UnsafeBuffer> memories = new ArrayList<>();
    private final List<SimDevice> members = new ArrayList<>();
    private final List<ProtectionDomain> domains = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final RaceHistory history;
    private final TablePlan plan = TablePlan.ofShape("mirror", 7, HASH_SEED, 0, 1, new int[]{NODE});
    private final MemorySegment key = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5, 6, 7, 8});
    /** Survivors are made equal before the view is closed at them. */
    boolean isFlawed;
    private SimExploration exploration;
    private ViewActor view;
    private long initialVersion;
    private boolean isClosing;

    MirrorScenario(final Race race, final Map<String, String> verdicts)
    {
        this.race = race;
        this.verdicts = verdicts;
        actors = new EngineActor[race.kinds.length + 1];
        devices = new SimDevice[actors.length];
        history = new RaceHistory(actors.length);
        plan.place(NODE, TABLE_AT);
    }

    @Override
    public void prepare(final SimExploration run)
    {
        exploration = run;
        for (int i = 0; i < race.copies; i++)
        {
            final SimDevice device = run.addDevice("member-" + i);
            final ProtectionDomain domain = device.allocateProtectionDomain();
            final MemoryRegion region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
            final UnsafeBuffer memory = new UnsafeBuffer(region.segment().address(), REGION_BYTES);
            members.add(device);
            domains.add(domain);
            regions.add(region);
            memories.add(memory);
            new PreparedSubtables(memory, HASH_SEED).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
        }
        for (int i = 0; i < actors.length; i++)
        {
            addEngine(run, i);
        }
        if (race.lost != 0)
        {
            final SimDevice device = run.addDevice("view");
            final ProtectionDomain domain = device.allocateProtectionDomain();
            view = new ViewActor(device, domain, connect(run, device, domain));
            run.addActor(device, view, false);
        }
        if (race.isPresent)
        {
            begin(PREPARER, OperationKind.PUT);
            run.finish(actors[PREPARER]);
            initialVersion = (Long)history.output(PREPARER);
        }
        for (int i = 1; race.isCached && i < actors.length; i++)
        {
            begin(i, OperationKind.GET);
            run.finish(actors[i]);
        }
        for (int i = 1; i < actors.length; i++)
        {
            begin(i, race.kinds[i - 1]);
        }
    }

    private SimQueuePairPort[] connect(
        final SimExploration run, final SimDevice device, final ProtectionDomain domain)
    {
        final SimQueuePairPort[] ports = new SimQueuePairPort[race.copies];
        for (int member = 0; member < race.copies; member++)
        {
            ports[member] = new SimQueuePairPort(
                run.fabric(), device, domain, members.get(member), domains.get(member), regions.get(member));
        }
        return ports;
    }

    private void addEngine(final SimExploration run, final int i)
    {
        final SimDevice device = run.addDevice("engine-" + i);
        final ProtectionDomain domain = device.allocateProtectionDomain();
        final EngineActor actor = new EngineActor(i);
        actors[i] = actor;
        devices[i] = device;
        run.addActor(device, actor, i != PREPARER);
        actor.engine = TableEngine.open(domain, device.attributes(), device.clock(),
            new TableEngineConfiguration().operationSlots(1).writerNumber(i + 1).locationCacheEntries(4)
                .versionClock(() -> 1L << 50).operationListener(op -> note((int)op.correlationId(), op))
                .chunkSource(node -> { }));
        actor.domain = domain;
        actor.ports = connect(run, device, domain);
        actor.mirror = new MirrorPort(
            domain, 1, actor.ports, actor.engine::onBatchComplete);
        actor.engine.attach(NODE, actor.mirror);
        actor.engine.chunkLeased(NODE, CHUNKS_AT + (long)i * 2 * CHUNK_BYTES, 2 * CHUNK_BYTES);
        actor.table = actor.engine.openTable(plan.descriptor());
    }

    private void note(final int i, final Operation op)
    {
        if (!isClosing)
        {
            history.note(i, op);
            history.precede(i, IntStream.range(1, actors.length)
                .filter(other -> i >= 1 && !exploration.hasBegun(devices[other])));
        }
    }

    private void begin(final int i, final int kind)
    {
        history.begin(i);
        actors[i].engine.begin(ClientView.give(
            new TableRequest().of(kind, actors[i].table, NEVER_NS, i).key(key, 0, 8), kind, i, initialVersion));
    }

    /** As the memory nodes do it, when nobody else has access. */
    private void reconcile()
    {
        final boolean[] survivors = new boolean[race.copies];
        for (int member = 0; member < race.copies; member++)
        {
            survivors[member] = race.survives(member);
        }
        final SlotReconciliation reconciliation = new SlotReconciliation(
            memories.stream().<SlotReconciliation.Copy>map(MemoryCopy::new).toList(), survivors);
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            reconciliation.reconcile(TABLE_AT + SubtableDescriptor.GROUPS_OFFSET +
                slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
                BucketDescriptor.SLOTS_OFFSET +
                (long)slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES);
        }
    }

    @Override
    public long stateHash()
    {
        return history.orderHash();
    }

    @Override
    public String verdict(final SimExploration run)
    {
        if (view != null)
        {
            useNextView(run);
        }
        begin(PREPARER, OperationKind.GET);
        run.finish(actors[PREPARER]);
        for (int member = 0; member < race.copies; member++)
        {
            final boolean counts = member == race.copies - 1 || view != null;
            if (counts && race.survives(member) &&
                new PreparedSubtables(memories.get(member), HASH_SEED).committedWords(TABLE_AT) > 1)
            {
                return race + ": two committed words of one key on member " + member;
            }
        }
        final String verdict = verdicts.computeIfAbsent(history.toString(), outcome ->
            history.judge(race.toString(), initialVersion,
                IntStream.concat(IntStream.of(-1), Arrays.stream(race.kinds)).toArray()));
        return verdict.isEmpty() ? null : race + ": " + verdict;
    }

    /** Over new connections to those who are left. */
    private void useNextView(final SimExploration run)
    {
        final EngineActor actor = actors[PREPARER];
        final SimQueuePairPort[] all = connect(run, devices[PREPARER], actor.domain);
        actor.mirror.close();
        actor.engine.detach(NODE);
        final OneSidedPort[] left = IntStream.range(0, race.copies).filter(race::survives).mapToObj(i -> all[i])
            .toArray(OneSidedPort[]::new);
        actor.ports = Arrays.stream(left).map(port -> (SimQueuePairPort)port).toArray(SimQueuePairPort[]::new);
        actor.mirror = null;
        actor.engine.attach(NODE, left[left.length - 1]);
    }

    @Override
    public void close()
    {
        isClosing = true;
        Arrays.stream(actors).filter(Objects::nonNull).forEach(actor ->
        {
            actor.engine.close();
            if (actor.mirror != null)
            {
                actor.mirror.close();
            }
        });
    }
}
