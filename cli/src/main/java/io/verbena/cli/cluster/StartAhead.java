package io.verbena.cli.cluster;

import io.verbena.control.bootstrap.BootstrapClient;
import io.verbena.rdma.fabric.Fabrics;

/**
 * Does beside the start of a node what it needs a moment later, and what no AOT cache keeps: cryptography is looked for
 * in its providers, and the system calls of a fabric are bound at run time. Stateless.
 */
public final class StartAhead
{
    private StartAhead()
    {
    }

    /** Begins, and returns at once. What fails here fails again where it is needed, and says so there. */
    public static void begin()
    {
        Thread.ofPlatform().name("verbena-start-ahead").daemon().uncaughtExceptionHandler((thread, error) -> {})
            .start(StartAhead::prepare);
    }

    /** In the order in which it is needed. */
    private static void prepare()
    {
        BootstrapClient.prepare();
        Fabrics.prepare();
    }
}
