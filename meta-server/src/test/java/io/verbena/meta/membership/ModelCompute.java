package io.verbena.meta.membership;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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

    record Reply(long sentAtNs, long epoch, long safeEpoch, Map<Integer, Integer> memoryNodes)
    {
    }

    final int nodeId;
    final int incarnation;
    final int writerNumber;
    final List<RunningOperation> running = new ArrayList<>();
    final List<RetiredBlock> retired = new ArrayList<>();
    final List<Reply> replies = new ArrayList<>();
    final List<long[]> requests = new ArrayList<>();
    final List<long[]> veryLate = new ArrayList<>();
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
