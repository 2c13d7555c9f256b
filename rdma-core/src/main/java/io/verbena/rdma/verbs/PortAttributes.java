package io.verbena.rdma.verbs;

/**
 * A device's port ({@code struct ibv_port_attr}).
 *
 * @param isActive     whether messages pass.
 * @param linkLayer    {@code Ethernet}, {@code InfiniBand}, or how else messages travel, such as {@code shared memory}.
 * @param address      GID in use.
 * @param pathMtuBytes longest payload of a packet; a UD message is no longer.
 */
public record PortAttributes(boolean isActive, String linkLayer, DeviceAddress address, int pathMtuBytes)
{
}
