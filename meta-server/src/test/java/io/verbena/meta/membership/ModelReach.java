package io.verbena.meta.membership;

import io.verbena.meta.membership.ModelCompute.RetiredBlock;
import io.verbena.meta.membership.ModelCompute.RunningOperation;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Which compute nodes of a {@link ClusterModel} reach which memory, and what must not happen to what they rely on. */
final class ModelReach
{
    private final List<ModelCompute> computes;
    private final Map<Integer, ModelMemory> memories;

    /** Both of the model, which changes them. */
    ModelReach(final List<ModelCompute> computes, final Map<Integer, ModelMemory> memories)
    {
        this.computes = computes;
        this.memories = memories;
    }

    boolean canReach(final ModelCompute compute, final int memoryNodeId, final int incarnation)
    {
        final ModelMemory memory = memories.get(memoryNodeId);
        return !memory.isForgotten && memory.incarnation == incarnation &&
            !compute.hasLeft(memoryNodeId, incarnation) && memory.sessions.contains(compute.incarnation);
    }

    /** That nobody under way at a block that is used again now has looked before it was retired. */
    void checkNobodyRelies(final ModelCompute other, final RetiredBlock block, final long step)
    {
        for (final RunningOperation operation : other.running)
        {
            if (operation.look().memoryNodeId() == block.memoryNodeId() &&
                operation.look().atStep() <= block.atStep() &&
                canReach(other, block.memoryNodeId(), block.memoryIncarnation()))
            {
                throw new AssertionError("step " + step + ": " + block + " is reused while node " + other.nodeId +
                    " incarnation " + other.incarnation + " still runs " + operation);
            }
        }
    }

    /**
     * That no operation of an epoch that all have passed is under way, but those of nodes for which epochs do not wait,
     * at memory that nobody uses.
     */
    void checkSafeEpoch(
        final long safeEpoch, final long step, final long nowNs, final Predicate<ModelCompute> isPassedOver)
    {
        for (final ModelCompute compute : computes)
        {
            for (final RunningOperation operation : compute.running)
            {
                if (operation.epoch() <= safeEpoch &&
                    canReach(compute, operation.look().memoryNodeId(), operation.look().memoryIncarnation()) &&
                    (!isPassedOver.test(compute) ||
                    isUsed(operation.look().memoryNodeId(), operation.look().memoryIncarnation(), nowNs)))
                {
                    throw new AssertionError("step " + step + ": safe epoch " + safeEpoch + " passed " + operation +
                        " of node " + compute.nodeId + ", which is not fenced");
                }
            }
        }
    }

    /** Late requests do no harm in memory that no node with a lease can reach: there nothing is used again. */
    private boolean isUsed(final int memoryNodeId, final int incarnation, final long nowNs)
    {
        return computes.stream().anyMatch((compute) ->
            !compute.gone && compute.leaseEndsNs > nowNs && canReach(compute, memoryNodeId, incarnation));
    }
}
