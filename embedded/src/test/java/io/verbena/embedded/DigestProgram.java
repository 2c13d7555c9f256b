package io.verbena.embedded;

import io.verbena.rdma.sim.schedule.SimRepetition;

import java.util.List;

/** Prints the digests of some simulated runs. */
final class DigestProgram
{
    private DigestProgram()
    {
    }

    static List<String> digests()
    {
        return List.of(
            digest(() -> DurabilityRun.growing(2, Flaw.LOOK_AGAIN)),
            digest(() -> new ClusterSimTest().shouldStayLinearizableWhenComputeNodesCrashAndPause(1)),
            digest(() -> new RemoteClientSimTest().shouldStayLinearizableWhenComputeNodesDieAndConnectionsBreak(1)));
    }

    private static String digest(final Runnable run)
    {
        return Long.toHexString(SimRepetition.digest(run));
    }

    public static void main(final String[] args)
    {
        digests().forEach(System.out::println);
    }
}
