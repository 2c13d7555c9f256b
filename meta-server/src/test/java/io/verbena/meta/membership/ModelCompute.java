package io.verbena.meta.membership;

import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A compute node of the {@link ClusterModel}. */
final class ModelCompute extends ModelProcess
{
    /** What an operation or a cached location rests on: a look at a memory node, and what its node knew then. */
    record Look(int memoryNodeId, int memoryIncarnation, long atStep, long epoch)
    {
    }

    /** A running operation: the oldest look it relies on, and the epoch its node knew when it began. */
    record RunningOperation(Look look, long epoch)
    {
    }

    record RetiredBlock(int memoryNodeId, int memoryIncarnation, long atStep, long epoch)
    {
    }

    record Request(long sentAtNs, long passed, List<PeerIdentity> left)
    {
    }

    record Reply(
        long sentAtNs, long epoch, long safeEpoch, Map<Integer, Integer> memoryNodes, List<PeerIdentity> toLeave)
    {
    }

    final int nodeId;
    final int incarnation;
    final int writerNumber;
    final List<RunningOperation> running = new ArrayList<>();
    final List<RetiredBlock> retired = new ArrayList<>();
    final List<Reply> replies = new ArrayList<>();
    final List<Request> requests = new ArrayList<>();
    final List<Request> veryLate = new ArrayList<>();
    /** Incarnations of lost memory nodes that it has left, as it says, by node id. */
    final Map<Integer, Integer> reportedLeft = new TreeMap<>();
    /** And those that it never uses again. */
    final Map<Integer, Integer> left = new TreeMap<>();
    Map<Integer, Integer> memoryNodes;
    Look cached;
    long leaseEndsNs;
    long epoch;
    boolean isPastLeaseCheck;
    boolean gone;

    ModelCompute(final Member member)
    {
        nodeId = member.nodeId();
        incarnation = member.incarnation();
        writerNumber = member.node().writerNumber();
    }

    /** What it looked at its clock for, it does when it goes on. */
    @Override
    void onPause()
    {
        isPastLeaseCheck = true;
    }

    boolean hasLeft(final int memoryNodeId, final int memoryIncarnation)
    {
        return left.getOrDefault(memoryNodeId, 0) >= memoryIncarnation;
    }

    long passed()
    {
        long passed = epoch - 1;

        for (final RunningOperation operation : running)
        {
            passed = Math.min(passed, operation.epoch - 1);
        }

        return passed;
    }
}
