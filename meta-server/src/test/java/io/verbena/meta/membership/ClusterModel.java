package io.verbena.meta.membership;

import io.verbena.meta.membership.ModelCompute.Look;
import io.verbena.meta.membership.ModelCompute.Reply;
import io.verbena.meta.membership.ModelCompute.Request;
import io.verbena.meta.membership.ModelCompute.RetiredBlock;
import io.verbena.meta.membership.ModelCompute.RunningOperation;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaState;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Nodes that behave as their contracts say, around the production conductor, under a random schedule: messages are
 * late, lost and overtake each other, nodes pause at any step, the server restarts. An operation keeps the oldest read
 * of a memory node that it relies on. If a block there is reused while an operation that read before the block was
 * retired can still reach that memory node, then epochs and fencing have failed.
 */
final class ClusterModel
{
    static final long LEASE_NS = 600;
    static final long MARGIN_NS = 50;
    static final long EPOCH_INTERVAL_NS = 10;
    static final long FENCE_RETRY_NS = 30;
    private static final int QUARANTINE_EPOCHS = 3;
    private static final int FORGETS_ONE_IN = 40;
    private static final int MOST_MEMORIES = 8;
    private static final int SPARES = 3;

    private record FenceCall(int memoryNodeId, FencingRound round, MembershipConductor caller)
    {
    }

    private final Random random;
    private final Disobedience disobedience;
    private long endpoints;
    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private final List<ModelCompute> computes = new ArrayList<>();
    private final Map<Integer, ModelMemory> memories = new TreeMap<>();
    private final ModelReach reach = new ModelReach(computes, memories);
    private final List<FenceCall> fenceCalls = new ArrayList<>();
    private final Set<Integer> incarnations = new HashSet<>();
    private final ModelEvents events = new ModelEvents();
    private MembershipConductor conductor;
    private long nowNs = 1;
    private long step;
    private long lastSafeEpoch;
    private int newestIncarnation;

    ClusterModel(final long seed, final Disobedience disobedience)
    {
        random = new Random(seed);
        this.disobedience = disobedience;
        start();

        for (int i = 0; i < 2; i++)
        {
            addMemory();
        }
    }

    private void addMemory()
    {
        final Member member = register(NodeRole.MEMORY_NODE);
        final ModelMemory memory = new ModelMemory(member.nodeId());
        memories.put(memory.nodeId, memory);
        begin(memory, member.incarnation());
    }

    /** Given up for good, and another one comes: whatever its process still does, nobody uses its memory. */
    private void forget(final ModelMemory memory)
    {
        final Member member = conductor.table().member(memory.nodeId);
        final boolean isLive = null != member && member.isLive();
        if (memory.isForgotten || memories.size() > MOST_MEMORIES)
        {
            return;
        }

        try
        {
            conductor.forgetMemory(memory.nodeId);
            memory.isForgotten = true;
            events.count("forgotten");
            addMemory();
        }
        catch (final MembershipRefusedException ex)
        {
            events.count("forget refused");
        }

        if (isLive == memory.isForgotten)
        {
            throw new AssertionError("step " + step + ": forgotten=" + memory.isForgotten + " " + member);
        }
    }

    /** @return what has happened, so that a test can see that it tested something. */
    Map<String, Integer> events()
    {
        return events.counts();
    }

    void run(final int steps)
    {
        for (step = 1; step <= steps; step++)
        {
            nowNs += random.nextInt(4);
            act();
            conductor.doWork(nowNs, (id, round) -> fenceCalls.add(new FenceCall(id, round, conductor)));
            checkInvariants();
        }
    }

    private void act()
    {
        switch (random.nextInt(27))
        {
            case 0 -> addCompute();
            case 1, 2, 3 -> withAnyCompute(this::tryBeginOperation);
            case 4, 5, 6 -> withCompute(this::endOperation);
            case 7 -> withCompute(this::retire);
            case 8, 9, 10 -> withCompute(this::sendHeartbeat);
            case 11, 12, 22, 23 -> deliverRequest();
            case 13, 14 -> computes.forEach(this::deliverReply);
            case 15 -> withAnyCompute((compute) -> compute.pauseOrGoOn(random));
            case 16, 17 -> answerFence();
            case 18, 19 -> memories.values().forEach(this::memoryDutyCycle);
            case 20 -> withMemory((memory) -> memory.pauseOrGoOn(random));
            case 21 -> rarely(20, this::deliverVeryLate);
            case 24 -> rarely(FORGETS_ONE_IN, () -> withMemory(this::forget));
            case 25 -> rarely(3, () -> conductor.recordSpares(SPARES));
            default -> rarely(60, this::restart);
        }
    }

    private void rarely(final int oneIn, final Runnable action)
    {
        if (0 == random.nextInt(oneIn))
        {
            action.run();
        }
    }

    private void start()
    {
        final MetaState state = store.load();
        final MetaLedger ledger =
            MembershipConductor.openLedger(store, state, 99, TestSecrets.first());
        conductor = new MembershipConductor(
            ledger,
            state,
            new ConductorOptions(
                new MembershipOptions(LEASE_NS, MARGIN_NS, 64),
                EPOCH_INTERVAL_NS,
                EPOCH_INTERVAL_NS,
                FENCE_RETRY_NS,
                false),
            events,
            nowNs);
        lastSafeEpoch = 0;
    }

    private void restart()
    {
        events.count("restart");
        start();
    }

    private Member register(final NodeRole role)
    {
        return noteIncarnation(conductor.register(endpoint(role), nowNs));
    }

    private Member noteIncarnation(final Member member)
    {
        final boolean isSpare = member.incarnation() < newestIncarnation;
        newestIncarnation = Math.max(newestIncarnation, member.incarnation());
        if (!incarnations.add(member.incarnation()) || isSpare && !member.isCompute())
        {
            throw new AssertionError("incarnation given out twice or going back: " + member);
        }
        events.count(isSpare ? "spare" : "no spare");
        return member;
    }

    private NodeRegistration endpoint(final NodeRole role)
    {
        return new NodeRegistration(0, role, new DeviceAddress(1, ++endpoints), 1, new RemoteRegion(4096, 4096, 1));
    }

    private void addCompute()
    {
        if (computes.stream().filter((c) -> !c.gone).count() < 4)
        {
            final ModelCompute compute = new ModelCompute(register(NodeRole.COMPUTE_NODE));

            for (final ModelCompute other : computes)
            {
                if (other.writerNumber == compute.writerNumber && reachesMemory(other))
                {
                    throw new AssertionError("writer number " + other.writerNumber + " has two users");
                }
            }

            compute.leaseEndsNs = nowNs + LEASE_NS;
            compute.epoch = conductor.epoch();
            compute.memoryNodes = liveMemoryNodes();
            computes.add(compute);
        }
    }

    private boolean reachesMemory(final ModelCompute compute)
    {
        return memories.values().stream().anyMatch((m) -> m.sessions.contains(compute.incarnation));
    }

    private Map<Integer, Integer> liveMemoryNodes()
    {
        final Map<Integer, Integer> live = new HashMap<>();

        for (final Member member : conductor.table().members())
        {
            if (!member.isCompute() && member.isLive())
            {
                live.put(member.nodeId(), member.incarnation());
            }
        }

        return live;
    }

    /** A node looks at its own clock before it begins anything; a paused one does nothing. */
    private boolean mayAct(final ModelCompute compute)
    {
        if (compute.paused || compute.gone)
        {
            return false;
        }

        if (compute.leaseEndsNs <= nowNs)
        {
            stop(compute);
            return false;
        }

        return true;
    }

    private void stop(final ModelCompute compute)
    {
        compute.gone = true;
        compute.running.clear();
        memories.values().forEach((m) -> m.sessions.remove(compute.incarnation));
    }

    /**
     * A node that paused between its look at the clock and the operation goes on with the operation, lookups included.
     */
    private void tryBeginOperation(final ModelCompute compute)
    {
        if (!compute.paused && !compute.gone && compute.isPastLeaseCheck || mayAct(compute))
        {
            compute.memoryNodes = compute.isPastLeaseCheck ? liveMemoryNodes() : compute.memoryNodes;
            compute.isPastLeaseCheck = false;
            beginOperation(compute);
        }
    }

    private void beginOperation(final ModelCompute compute)
    {
        if (null != compute.cached && compute.cached.epoch() >= compute.epoch - 1 && random.nextBoolean())
        {
            if (reach.canReach(compute, compute.cached.memoryNodeId(), compute.cached.memoryIncarnation()))
            {
                compute.running.add(new RunningOperation(compute.cached, compute.epoch));
            }

            return;
        }

        for (final Map.Entry<Integer, Integer> entry : compute.memoryNodes.entrySet())
        {
            final ModelMemory memory = memories.get(entry.getKey());

            if (random.nextBoolean() && connect(compute, memory, entry.getValue()))
            {
                final Look look = new Look(memory.nodeId, memory.incarnation, step, compute.epoch);
                compute.cached = look;
                compute.running.add(new RunningOperation(look, compute.epoch));
                return;
            }
        }
    }

    private boolean connect(final ModelCompute compute, final ModelMemory memory, final int incarnation)
    {
        if (memory.isForgotten)
        {
            return false;
        }

        if (compute.hasLeft(memory.nodeId, incarnation))
        {
            return false;
        }

        if (memory.sessions.contains(compute.incarnation))
        {
            return memory.incarnation == incarnation;
        }

        if (memory.paused || memory.incarnation != incarnation || !memory.admits(compute.incarnation))
        {
            return false;
        }

        memory.sessions.add(compute.incarnation);
        return true;
    }

    private void endOperation(final ModelCompute compute)
    {
        if (!compute.running.isEmpty())
        {
            compute.running.remove(random.nextInt(compute.running.size()));
        }
    }

    private void retire(final ModelCompute compute)
    {
        if (null != compute.cached &&
            reach.canReach(compute, compute.cached.memoryNodeId(), compute.cached.memoryIncarnation()))
        {
            compute.retired.add(new RetiredBlock(
                compute.cached.memoryNodeId(), compute.cached.memoryIncarnation(), step, compute.epoch));
        }
    }

    private void sendHeartbeat(final ModelCompute compute)
    {
        final Request request = new Request(nowNs, compute.passed(), compute.reportedLeft.entrySet().stream()
            .map((left) -> new PeerIdentity(left.getKey(), left.getValue())).toList());
        (0 == random.nextInt(20) ? compute.veryLate : compute.requests).add(request);
    }

    private void deliverRequest()
    {
        for (final ModelCompute compute : computes)
        {
            if (!compute.requests.isEmpty() && random.nextBoolean())
            {
                final Request request = compute.requests.remove(random.nextInt(compute.requests.size()));

                if (0 != random.nextInt(5))
                {
                    handle(compute, request);
                }
            }
        }
    }

    private void deliverVeryLate()
    {
        for (final ModelCompute compute : computes)
        {
            compute.veryLate.forEach((request) -> handle(compute, request));
            compute.veryLate.clear();
        }
    }

    private void handle(final ModelCompute compute, final Request request)
    {
        try
        {
            final Member member =
                conductor.heartbeat(compute.nodeId, compute.incarnation, request.passed(), nowNs);
            conductor.onLeft(member.node().identity(), request.left());
            compute.replies.add(new Reply(
                request.sentAtNs(),
                conductor.epoch(),
                conductor.safeEpoch(),
                liveMemoryNodes(),
                conductor.memoryNodesToLeave()));
        }
        catch (final MembershipRefusedException ex)
        {
            events.count("refused");
        }
    }

    private void deliverReply(final ModelCompute compute)
    {
        if (compute.replies.isEmpty() || random.nextBoolean() || !mayAct(compute))
        {
            return;
        }

        final Reply reply = compute.replies.remove(random.nextInt(compute.replies.size()));
        if (0 == random.nextInt(5))
        {
            return;
        }

        compute.leaseEndsNs = Math.max(compute.leaseEndsNs, reply.sentAtNs() + LEASE_NS);

        compute.memoryNodes = reply.memoryNodes();
        reply.toLeave().forEach((memoryNode) -> leave(compute, memoryNode));
        compute.running.removeIf((o) ->
            !reach.canReach(compute, o.look().memoryNodeId(), o.look().memoryIncarnation()));
        reuse(compute, reply.safeEpoch());

        if (reply.epoch() > compute.epoch)
        {
            compute.epoch = reply.epoch();
        }
    }

    private void leave(final ModelCompute compute, final PeerIdentity memoryNode)
    {
        compute.reportedLeft.merge(memoryNode.nodeId(), memoryNode.incarnation(), Math::max);

        switch (disobedience)
        {
            case NONE -> compute.left.merge(memoryNode.nodeId(), memoryNode.incarnation(), Math::max);
            case STAY ->
            {
                // It goes on.
            }
            case CONNECT_AGAIN -> compute.running.removeIf((o) -> o.look().memoryNodeId() == memoryNode.nodeId());
        }
    }

    private void reuse(final ModelCompute compute, final long safeEpoch)
    {
        for (final RetiredBlock block : List.copyOf(compute.retired))
        {
            if (safeEpoch >= block.epoch() + QUARANTINE_EPOCHS &&
                reach.canReach(compute, block.memoryNodeId(), block.memoryIncarnation()))
            {
                compute.retired.remove(block);
                events.count("reuse");
                events.count(conductor.rounds().stream().allMatch(FencingRound::delaysEpochs) ?
                    "reuse with nobody passed over" : "reuse with somebody passed over");
                computes.forEach((other) -> reach.checkNobodyRelies(other, block, step));
            }
        }
    }

    private void answerFence()
    {
        if (fenceCalls.isEmpty())
        {
            return;
        }

        final FenceCall call = fenceCalls.remove(random.nextInt(fenceCalls.size()));
        final ModelMemory memory = memories.get(call.memoryNodeId);
        final boolean answers = !memory.paused && 0 != random.nextInt(4);

        if (!memory.paused && random.nextBoolean() || answers)
        {
            memory.fenced.add(call.round.incarnation());
            memory.sessions.remove(call.round.incarnation());
        }

        if (call.caller == conductor)
        {
            call.round.onAnswer(call.memoryNodeId, answers, nowNs);
        }
    }

    private void memoryDutyCycle(final ModelMemory memory)
    {
        if (memory.paused)
        {
            return;
        }

        if (memory.leaseEndsNs <= nowNs)
        {
            memory.ready = false;
            memory.sessions.clear();
            memory.fenced.clear();
            rejoin(memory);
            return;
        }

        try
        {
            conductor.heartbeat(memory.nodeId, memory.incarnation, 0, nowNs);
            memory.leaseEndsNs = nowNs + LEASE_NS;
        }
        catch (final MembershipRefusedException ex)
        {
            memory.leaseEndsNs = nowNs;
        }
    }

    private void rejoin(final ModelMemory memory)
    {
        try
        {
            final Member member =
                noteIncarnation(conductor.rejoin(endpoint(NodeRole.MEMORY_NODE), memory.nodeId, nowNs));

            if (memory.isForgotten)
            {
                throw new AssertionError("step " + step + ": let a forgotten memory node in: " + member);
            }

            if (random.nextBoolean())
            {
                begin(memory, member.incarnation());
                events.count("memory node rejoined");
            }
            else
            {
                events.count("rejoin unheard");
            }
        }
        catch (final MembershipRefusedException ex)
        {
            events.count("rejoin refused");
        }
    }

    private void begin(final ModelMemory memory, final int incarnation)
    {
        memory.incarnation = incarnation;
        memory.leaseEndsNs = nowNs + LEASE_NS;
        memory.membersAtStart.clear();
        conductor.table().spares().forEach((spare) -> memory.membersAtStart.add(spare.incarnation()));

        for (final Member member : conductor.table().members())
        {
            if (member.isCompute() && member.isLive())
            {
                memory.membersAtStart.add(member.incarnation());
            }
        }

        conductor.heartbeat(memory.nodeId, memory.incarnation, 0, nowNs);
        memory.ready = true;
    }

    private void checkInvariants()
    {
        final long safeEpoch = conductor.safeEpoch();
        if (safeEpoch < lastSafeEpoch)
        {
            throw new AssertionError(
                "step " + step + ": safe epoch went back from " + lastSafeEpoch + " to " + safeEpoch);
        }

        lastSafeEpoch = safeEpoch;
        reach.checkSafeEpoch(safeEpoch, step, nowNs, (compute) -> conductor.rounds().stream().anyMatch((round) ->
            round.nodeId() == compute.nodeId && !round.delaysEpochs()));
    }

    private void withCompute(final Consumer<ModelCompute> action)
    {
        withAnyCompute((compute) ->
        {
            if (mayAct(compute))
            {
                action.accept(compute);
            }
        });
    }

    private void withAnyCompute(final Consumer<ModelCompute> action)
    {
        final List<ModelCompute> running = computes.stream().filter((c) -> !c.gone).toList();

        if (!running.isEmpty())
        {
            action.accept(running.get(random.nextInt(running.size())));
        }
    }

    private void withMemory(final Consumer<ModelMemory> action)
    {
        action.accept(List.copyOf(memories.values()).get(random.nextInt(memories.size())));
    }
}
