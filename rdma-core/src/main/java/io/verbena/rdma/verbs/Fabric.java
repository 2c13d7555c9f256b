package io.verbena.rdma.verbs;

import java.util.List;

/**
 * Where devices come from: a set of devices that can be opened by name. Thread-safe. Closed by its opener, after its
 * devices. Opened by name with {@code io.verbena.rdma.fabric.Fabrics}.
 */
public interface Fabric extends AutoCloseable
{
    /** @return name of the provider: {@code soft}, {@code sim} or {@code ibverbs}. */
    String provider();

    /**
     * The names that {@link #openDevice} takes without making anything new.
     *
     * @return names of the devices present on this fabric; of hardware, or of what others have opened.
     */
    List<String> deviceNames();

    /**
     * Opens a device. Software fabrics make a device of that name, which stands for a node of its own; with hardware it
     * is the name of an RNIC, or any name for a node that uses the RNIC the fabric was opened for.
     *
     * @param name of the device or node.
     * @return the device, closed by the caller.
     */
    Device openDevice(String name);

    /**
     * Looks for memory that {@link ProtectionDomain#allocateNamed} made, without making any.
     *
     * @param name of the memory.
     * @return whether there is some, registered or not.
     */
    default boolean hasNamed(final String name)
    {
        throw new UnsupportedVerbException("named memory", provider());
    }

    /**
     * Frees memory that {@link ProtectionDomain#allocateNamed} made and nobody has registered now.
     *
     * @param name of the memory.
     * @return whether there was any.
     * @throws RdmaException when a process that lives has it registered.
     */
    default boolean discardNamed(final String name)
    {
        throw new UnsupportedVerbException("named memory", provider());
    }

    /**
     * Says that the application closes this fabric while its process ends, in a shutdown hook of its own: what the
     * provider does by itself then waits for that. Without this call a software fabric stops its requesters as soon as
     * the process is asked to end.
     *
     * @param timeoutNs how long to wait at most.
     */
    default void awaitCloseAtExit(final long timeoutNs)
    {
    }

    @Override
    void close();
}
