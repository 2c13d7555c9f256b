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
import io.verbena.table.mirror.LastMemberPort;
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

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A few operations on one key of a table with one or two copies, one engine each, and a memory node that comes in
 * between any two verbs of them, as decision 0024 says: words and their blocks are copied beside the work; then engines
 * post nothing more, members close the view, the words are compared, and engines go on in the next view. In the end all
 * members are lost but the one that came in, and it is read. Judged by the history that the clients saw, with that
 * read, and by the words.
 */
final class EnteringScenario implements SimExplorer.Scenario
{
    private static final int NODE = 3;
    private static final long HASH_SEED = 42;
    private static final int TABLE_AT = 4096;
    private static final int CHUNK_BYTES = 1024;
    private static final int CHUNKS_AT = 8192;
    private static final int REGION_BYTES = 1 << 14;
    private static final int PREPARER = 0;
    private static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;
    private static final long NEVER_NS = Long.MAX_VALUE / 2;
    private static final long TIMER_NS = 500_000_000L;

    /**
     * What races.
     *
     * @param kinds     operation of each engine.
     * @param isPresent whether the key is there before.
     * @param isClaimed whether inserts of the key have ended before their commits: in the slot that another one
     *                  chooses, and in the first one.
     * @param copies    1 or 2, to which one is added.
     */
    record Race(int[] kinds, boolean isPresent, boolean isClaimed, int copies)
    {
        @Override
        public String toString()
        {
            return Arrays.stream(kinds).mapToObj(KindsTogether::name).toList() + (isPresent ? " present" : " absent") +
                (isClaimed ? " claimed" : "") + " copies=" + copies;
        }
    }

    /** An engine with one operation. */
    private final class EngineActor implements SimActor
    {
        private final int index;
        private TableEngine engine;
        private ProtectionDomain domain;
        private SimQueuePairPort[] ports;
        private SimQueuePairPort[] nextPorts;
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
                worked += hasLeft ? port.poll((cookie, status) -> { }) : port.poll(this::onComplete);
            }
            return worked + (hasLeft || mirror == null ? 0 : mirror.poll()) + engine.poll();
        }

        /** Of several members each request that is cut off is answered here, not each batch: ports show that. */
        private void onComplete(final int cookie, final int status)
        {
            if (mirror == null)
            {
                engine.onBatchComplete(cookie, status);
            }
            else if (status == WorkCompletionStatus.SUCCESS)
            {
                mirror.onMemberComplete(cookie, status);
            }
        }

        /** One whose view is over waits for the next one. */
        @Override
        public boolean isDone()
        {
            return engine.active() == 0 || hasLeft || index != PREPARER && !isInNextView && isStopped();
        }

        private boolean isStopped()
        {
            return Arrays.stream(ports).anyMatch(port -> !port.isReady());
        }

        @Override
        public String roleName()
        {
            return "engine-" + index;
        }

        private void attach(final SimQueuePairPort[] to, final long number, final boolean hasNewMember)
        {
            ports = to;
            mirror = to.length == 1 ? null :
                new MirrorPort(domain, number, Arrays.copyOf(to, to.length, OneSidedPort[].class),
                engine::onBatchComplete);
            engine.attach(NODE, mirror == null ? new LastMemberPort(to[0]) : mirror, hasNewMember);
            hasLeft = false;
        }

        private void leave()
        {
            hasLeft = true;
            if (mirror != null)
            {
                mirror.close();
                mirror = null;
            }
            engine.detach(NODE);
        }
    }

    /** Has the member come in: step by step, with a request in between that takes its time. */
    private final class ViewActor implements SimActor
    {
        private final SimDevice device;
        private final SimQueuePairPort port;
        private final MemoryRegion scratch;
        private final List<Runnable> steps = new ArrayList<>();
        private int next;
        private boolean isWaiting;

        private ViewActor(final SimDevice device, final ProtectionDomain domain, final SimQueuePairPort port)
        {
            this.device = device;
            this.port = port;
            scratch = domain.allocateRegistered(Long.BYTES, AccessFlags.LOCAL_WRITE);
            steps.add(EnteringScenario.this::copyBesideTheWork);
            for (int i = 1; i < actors.length; i++)
            {
                final int engine = i;
                steps.add(() -> Arrays.stream(actors[engine].ports).forEach(SimQueuePairPort::stop));
            }
            for (int i = 0; i < race.copies; i++)
            {
                final int member = i;
                steps.add(() -> IntStream.range(1, actors.length)
                    .forEach(engine -> actors[engine].ports[member].cutOff()));
            }
            steps.add(EnteringScenario.this::beginNextView);
        }

        @Override
        public int doWork()
        {
            final int worked = port.poll((cookie, status) -> isWaiting = false);
            if (isDone() || isWaiting || device.clock().nanoTime() <= TIMER_NS)
            {
                return worked;
            }
            steps.get(next++).run();
            if (!isDone())
            {
                port.begin();
                port.read(scratch, 0, Long.BYTES, TABLE_AT);
                port.complete(0);
                isWaiting = true;
            }
            return 1;
        }

        @Override
        public boolean isDone()
        {
            return next == steps.size();
        }

        @Override
        public long stateHash()
        {
            return next * 2L + (isWaiting ? 1 : 0) + 8;
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
    /** Of the members in their order, then of the one that comes in. */
    private final List<UnsafeBuffer> memories = new ArrayList<>();
    private final List<SimDevice> members = new ArrayList<>();
    private final List<ProtectionDomain> domains = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final RaceHistory history;
    private final TablePlan plan = TablePlan.ofShape("entering", 7, HASH_SEED, 0, 1, new int[]{NODE});
    private final MemorySegment key = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5, 6, 7, 8});
    private SimExploration exploration;
    private long initialVersion;
    private boolean isInNextView;
    private boolean isClosing;

    EnteringScenario(final Race race, final Map<String, String> verdicts)
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
        for (int i = 0; i <= race.copies; i++)
        {
            final SimDevice device = run.addDevice(i == race.copies ? "entering" : "member-" + i);
            final ProtectionDomain domain = device.allocateProtectionDomain();
            final MemoryRegion region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
            final UnsafeBuffer memory = new UnsafeBuffer(region.segment().address(), REGION_BYTES);
            members.add(device);
            domains.add(domain);
            regions.add(region);
            memories.add(memory);
            new PreparedSubtables(memory, HASH_SEED).format(TABLE_AT, 0, 0, SlotWord.EMPTY);
        }
        // First, so that a run that is cut off gets to the next view before engines go on.
        final SimDevice device = run.addDevice("view");
        final ProtectionDomain domain = device.allocateProtectionDomain();
        run.addActor(device, new ViewActor(device, domain, connect(run, device, domain, 0)), false);
        for (int i = 0; i < actors.length; i++)
        {
            addEngine(run, i);
        }
        prepareKey(run);
        for (int i = 1; i < actors.length; i++)
        {
            begin(i, race.kinds[i - 1]);
        }
    }

    private void prepareKey(final SimExploration run)
    {
        if (race.isPresent || race.isClaimed)
        {
            begin(PREPARER, OperationKind.PUT);
            run.finish(actors[PREPARER]);
            initialVersion = race.isPresent ? (Long)history.output(PREPARER) : 0;
        }
        for (int slot = 0; race.isClaimed && slot < SLOTS; slot++)
        {
            final int at = (int)EnteringRun.slotAt(slot);
            final long word = memories.getFirst().getLong(at, LITTLE_ENDIAN);
            if (SlotWord.isCommitted(word))
            {
                memories.subList(0, race.copies).forEach(memory -> memory.putLong(at, SlotWord.EMPTY, LITTLE_ENDIAN));
                leaveClaim(at, word);
                leaveClaim((int)EnteringRun.slotAt(0), word);
            }
        }
    }

    private void leaveClaim(final int at, final long word)
    {
        memories.getFirst().putLong(at, SlotWord.withKind(word, SlotWord.KIND_TENTATIVE), LITTLE_ENDIAN);
    }

    private SimQueuePairPort connect(
        final SimExploration run, final SimDevice device, final ProtectionDomain domain, final int member)
    {
        return new SimQueuePairPort(
            run.fabric(), device, domain, members.get(member), domains.get(member), regions.get(member));
    }

    private SimQueuePairPort[] connect(
        final SimExploration run, final SimDevice device, final ProtectionDomain domain, final IntStream to)
    {
        return to.mapToObj(member -> connect(run, device, domain, member)).toArray(SimQueuePairPort[]::new);
    }

    /** Behind the heads of the members that there are, and before the primary. */
    private IntStream membersOfNextView()
    {
        return IntStream.concat(IntStream.range(0, race.copies - 1), IntStream.of(race.copies, race.copies - 1));
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
                .chunkSource(node -> { }).repeatsLostOutcomes(true));
        actor.domain = domain;
        actor.nextPorts = connect(
            run, device, domain, i == PREPARER ? IntStream.of(race.copies) : membersOfNextView());
        actor.attach(connect(run, device, domain, IntStream.range(0, race.copies)), 1, false);
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

    private IntStream racing()
    {
        return IntStream.range(1, actors.length).filter(i -> !devices[i].isKilled());
    }

    private void copyBesideTheWork()
    {
        reconcile(new SlotReconciliation(List.of(copyOf(race.copies), copyOf(race.copies - 1)),
            new boolean[]{true, true}));
    }

    private SlotReconciliation.Copy copyOf(final int member)
    {
        return new MemoryCopy(memories.get(member));
    }

    private static void reconcile(final SlotReconciliation words)
    {
        IntStream.range(0, SLOTS).forEach(slot -> words.reconcile(EnteringRun.slotAt(slot)));
    }

    private void beginNextView()
    {
        racing().forEach(i -> actors[i].leave());
        final boolean[] survivors = new boolean[race.copies];
        Arrays.fill(survivors, true);
        reconcile(new SlotReconciliation(
            IntStream.range(0, race.copies).mapToObj(this::copyOf).toList(), survivors,
            List.of(copyOf(race.copies))));
        isInNextView = true;
        racing().forEach(i -> actors[i].attach(actors[i].nextPorts, 2, true));
    }

    @Override
    public long stateHash()
    {
        return history.orderHash();
    }

    @Override
    public String verdict(final SimExploration run)
    {
        final long[] words = words(race.copies);
        for (int member = 0; member <= race.copies; member++)
        {
            if (new PreparedSubtables(memories.get(member), HASH_SEED).committedWords(TABLE_AT) > 1)
            {
                return race + ": two committed words of one key on member " + member;
            }
            if (racing().count() == race.kinds.length && !Arrays.equals(words, words(member)))
            {
                return race + ": copies of a slot differ when all is over";
            }
        }
        loseTheOthers();
        begin(PREPARER, OperationKind.GET);
        run.finish(actors[PREPARER]);
        final String verdict = verdicts.computeIfAbsent(history.toString(), outcome ->
            history.judge(race.toString(), initialVersion,
                IntStream.concat(IntStream.of(-1), Arrays.stream(race.kinds)).toArray()));
        return verdict.isEmpty() ? null : race + ": " + verdict;
    }

    private long[] words(final int member)
    {
        return IntStream.range(0, SLOTS).mapToLong(
            slot -> memories.get(member).getLong((int)EnteringRun.slotAt(slot), LITTLE_ENDIAN)).toArray();
    }

    /** The next view has one member, which is the one that came in. */
    private void loseTheOthers()
    {
        actors[PREPARER].leave();
        final int[] nextView = membersOfNextView().toArray();
        final boolean[] survivors = new boolean[nextView.length];
        IntStream.range(0, nextView.length).forEach(i -> survivors[i] = nextView[i] == race.copies);
        reconcile(new SlotReconciliation(Arrays.stream(nextView).mapToObj(this::copyOf).toList(), survivors));
        actors[PREPARER].attach(actors[PREPARER].nextPorts, 3, true);
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
