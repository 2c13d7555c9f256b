package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;

/** Decides who may connect to an {@link RpcServer}; called by the owner thread. */
public interface ConnectionAcceptor
{
    /**
     * @param caller who the peer says it is; identities that were fenced do not come here.
     * @param source its device.
     * @return the answer.
     */
    Admission onConnect(PeerIdentity caller, DeviceAddress source);
}
