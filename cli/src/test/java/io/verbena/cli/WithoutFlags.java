package io.verbena.cli;

import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.embedded.EmbeddedClusterException;
import io.verbena.embedded.Verbena;

/** A program whose author has not read about the flags of the JVM: it says what both clients say to that. */
public final class WithoutFlags
{
    private WithoutFlags()
    {
    }

    /** @param args none. */
    public static void main(final String[] args)
    {
        try
        {
            KvClient.connect("verbena://127.0.0.1:1").close();
        }
        catch (final KvException ex)
        {
            System.out.println(ex.getMessage());
        }
        try
        {
            Verbena.embedded().close();
        }
        catch (final EmbeddedClusterException ex)
        {
            System.out.println(ex.getMessage());
        }
    }
}
