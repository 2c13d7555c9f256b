package io.verbena.rdma.verbs;

/**
 * A device's port ({@code struct ibv_port_attr}).
 *
 * @param number       of the port, 1 for the first; what a queue pair's INIT names.
 * @param isActive     whether messages pass.
 * @param linkLayer    {@code Ethernet}, {@code InfiniBand}, or how else messages travel, such as {@code shared memory}.
 * @param address      GID in use.
 * @param pathMtuBytes longest payload of a packet; a UD message is no longer.
 */
public record PortAttributes(
    int number, boolean isActive, String linkLayer, DeviceAddress address, int pathMtuBytes)
{
}
