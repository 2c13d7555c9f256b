package io.verbena.protocol.bootstrap;

import io.verbena.protocol.tls.TlsSettings;

/** With what a process shows a cluster that it may join: the cluster's token, or a user's secret. Any thread. */
public sealed interface BootstrapSecret permits ClusterToken, UserLogin
{
    /** What is proved in one handshake, and how. */
    interface Keys
    {
        /** @return what proves the secret to the server, after these messages. */
        byte[] proof(byte[]... messages);

        /** @return whether it proves that the server has the secret, or can check it, after these messages. */
        boolean isServerProof(byte[] given, byte[]... messages);

        /** @return the ticket in an answer that was proved; null when there is none. */
        AccessTicket ticket(byte[] answer, byte[]... messages);
    }

    /** @return TLS of the handshake; null: none. */
    TlsSettings tls();

    /**
     * @param settings TLS of the handshake; null: none.
     * @return the same secret, which is shown so.
     */
    BootstrapSecret with(TlsSettings settings);

    /** @return of a user its name; empty for the token. */
    String userName();

    /**
     * @param salt what the challenge says besides: of a user iterations and salt.
     * @return keys; slow for a user.
     * @throws IllegalArgumentException when the challenge cannot be one.
     */
    Keys keys(byte[] salt);

    /** @return as whom those who have the token are known to all nodes; null when it is not for nodes. */
    AccessTicket nodeTicket();

    /**
     * @param answer of the cluster.
     * @return as whom a node or operator connects to the meta server; null when it is not for these.
     */
    default AccessTicket joiningTicket(final BootstrapAnswer answer)
    {
        return nodeTicket();
    }

    /**
     * @param answer of the cluster.
     * @return as whom a client with this secret connects.
     */
    AccessTicket clientTicket(BootstrapAnswer answer);
}
