package io.verbena.cli.role;

import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.rdma.fabric.Fabrics;

/**
 * Does beside the start of a node what it needs a moment later, and what no AOT cache keeps: cryptography is looked for
 * in its providers, and the system calls of a fabric are bound at run time. Stateless.
 */
public final class StartAhead
{
    private static final String NAME = "verbena-start-ahead";

    private StartAhead()
    {
    }

    /**
     * Begins, and returns at once. What fails here fails again where it is needed; but the second failure of a class's
     * initialiser does not say why, so the first one is logged.
     */
    public static void begin()
    {
        Thread.ofPlatform().name(NAME).daemon().uncaughtExceptionHandler((thread, error) ->
            System.getLogger(NAME).log(System.Logger.Level.WARNING, "preparing failed: " + error, error))
            .start(StartAhead::prepare);
    }

    /** In the order in which it is needed. */
    private static void prepare()
    {
        BootstrapClient.prepare();
        Fabrics.prepare();
    }
}
