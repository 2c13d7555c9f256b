package io.verbena.control.bootstrap;

import io.verbena.raas.PeerAddress;

/**
 * What a cluster tells those who may join it.
 *
 * @param fabric     name of the fabric, as {@code io.verbena.rdma.fabric.Fabrics} opens it.
 * @param metaServer where the meta server is on it.
 */
public record BootstrapAnswer(String fabric, PeerAddress metaServer)
{
}
