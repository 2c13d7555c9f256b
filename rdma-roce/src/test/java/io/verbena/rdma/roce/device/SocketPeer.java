package io.verbena.rdma.roce.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A process of {@link SocketPeerMain} in another namespace. */
final class SocketPeer
{
    private final Process process;
    private final BufferedReader lines;
    private final Writer commands;

    SocketPeer(final NamespaceHost host, final List<String> fabrics)
    {
        process = NamespaceHost.start(host.inside(InNamespace.java(SocketPeerMain.class, fabrics)));
        lines = process.inputReader(StandardCharsets.UTF_8);
        commands = process.outputWriter(StandardCharsets.UTF_8);
    }

    /** What it says of its next device. */
    String line()
    {
        return NamespaceHost.line(lines);
    }

    String ask(final String command)
    {
        try
        {
            commands.write(command + '\n');
            commands.flush();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        return line();
    }

    /** Stops it, or lets it go on. */
    void stop(final boolean isStopped)
    {
        NamespaceHost.output(List.of("kill", isStopped ? "-STOP" : "-CONT", Long.toString(process.pid())));
    }

    void kill() throws InterruptedException
    {
        process.destroyForcibly().waitFor();
    }
}
