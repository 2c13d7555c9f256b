package io.verbena.cli.hosts.wire;

import java.lang.foreign.MemorySegment;

/** Where frames of one host come from and go to. One thread. */
interface FramePort extends AutoCloseable
{
    /** {@link #receive} had none. */
    int NOTHING = -1;

    /**
     * Takes the next frame, without waiting for one.
     *
     * @param frame takes it, from its beginning.
     * @return its length in bytes, or {@link #NOTHING}.
     */
    int receive(MemorySegment frame);

    /**
     * Sends a frame.
     *
     * @param frame       begins with it.
     * @param lengthBytes of the frame.
     * @return whether the port took it.
     */
    boolean send(MemorySegment frame, int lengthBytes);

    /** @return frames that came and were not received in time, since the port was opened. */
    long overruns();

    @Override
    void close();
}
