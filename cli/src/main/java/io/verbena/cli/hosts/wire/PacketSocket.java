package io.verbena.cli.hosts.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** The frames of one network interface of this process's network namespace. */
final class PacketSocket implements FramePort
{
    private final int descriptor;
    private long overruns;

    private PacketSocket(final int descriptor)
    {
        this.descriptor = descriptor;
    }

    /**
     * Opens the port.
     *
     * @param name of the interface.
     * @return the port, closed by the caller.
     * @throws IOException when there is no such interface, or packet sockets are not permitted.
     */
    static PacketSocket open(final String name) throws IOException
    {
        return new PacketSocket(PacketSockets.open(name));
    }

    int descriptor()
    {
        return descriptor;
    }

    @Override
    public int receive(final MemorySegment frame)
    {
        final long lengthBytes = PacketSockets.receive(descriptor, frame);
        return lengthBytes < 0 ? NOTHING : (int)lengthBytes;
    }

    @Override
    public boolean send(final MemorySegment frame, final int lengthBytes)
    {
        return PacketSockets.send(descriptor, frame, lengthBytes) == lengthBytes;
    }

    @Override
    public long overruns()
    {
        overruns += PacketSockets.drops(descriptor);
        return overruns;
    }

    @Override
    public void close()
    {
        PacketSockets.close(descriptor);
    }
}
