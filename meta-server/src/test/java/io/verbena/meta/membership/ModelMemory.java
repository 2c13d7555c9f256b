package io.verbena.meta.membership;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/** A memory node of the {@link ClusterModel}. */
final class ModelMemory extends ModelProcess
{
    final int nodeId;
    int incarnation;
    long leaseEndsNs;
    boolean ready;
    boolean isForgotten;
    final Set<Integer> sessions = new HashSet<>();
    final Set<Integer> fenced = new HashSet<>();
    final Set<Integer> membersAtStart = new HashSet<>();

    ModelMemory(final int nodeId)
    {
        this.nodeId = nodeId;
    }

    /** Some are lost for good. */
    @Override
    int longPauseLength(final Random random)
    {
        return 0 == random.nextInt(3) ? 1_000 : super.longPauseLength(random);
    }

    boolean admits(final int computeIncarnation)
    {
        return ready && !fenced.contains(computeIncarnation) &&
            (computeIncarnation > incarnation || membersAtStart.contains(computeIncarnation));
    }
}
