package io.verbena.rdma.connection;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * One exchange of messages between devices with a {@link ConnectionSecret}: each message has a random number and what
 * authenticates it, together with the messages before it, so that none is taken that was changed, or belongs to another
 * exchange. Immutable, any thread.
 */
final class ConnectionProof
{
    private static final String REQUESTER = "verbena packets of the requester";
    private static final String ACCEPTOR = "verbena packets of the acceptor";
    private static final byte[] NONE = {};

    private final ConnectionSecret secret;
    /** The messages before. */
    private final byte[] before;

    private ConnectionProof(final ConnectionSecret secret, final byte[] before)
    {
        this.secret = secret;
        this.before = before;
    }

    /** @return the request with its random number and its proof. */
    static ConnectionMessage request(
        final ConnectionSecret secret, final ConnectionDevice device, final ConnectionMessage request)
    {
        return new ConnectionProof(secret, NONE).sealed(device, request);
    }

    /** @return whether a request was made by who has the secret. */
    static boolean isProved(final ConnectionSecret secret, final ConnectionMessage request)
    {
        return new ConnectionProof(secret, NONE).isAuthentic(request);
    }

    /**
     * Of what follows an answer to the request of this one: a message that was recorded is none of another answer.
     *
     * @param accept the answer.
     * @return of the messages that follow.
     */
    ConnectionProof after(final ConnectionMessage accept)
    {
        final ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(before);
        both.writeBytes(accept.bytes());
        return new ConnectionProof(secret, both.toByteArray());
    }

    /** @return of the messages that follow a request. */
    static ConnectionProof of(final ConnectionSecret secret, final ConnectionMessage request)
    {
        return new ConnectionProof(secret, request.bytes());
    }

    /** @return the message with a random number and its proof. */
    ConnectionMessage sealed(final ConnectionDevice device, final ConnectionMessage message)
    {
        final byte[] random = new byte[ConnectionMessage.RANDOM_LENGTH_BYTES];
        device.random().nextBytes(random);
        final ConnectionMessage numbered = message.proved(random, NONE);
        return message.proved(random, secret.mac(before, numbered.bytes()));
    }

    /** @return whether the message is one of this exchange, as the peer has sent it. */
    boolean isAuthentic(final ConnectionMessage message)
    {
        return message.isProved() && MessageDigest.isEqual(
            message.proof(), secret.mac(before, message.proved(message.random(), NONE).bytes()));
    }

    /**
     * @param accept      what answers the request.
     * @param isRequester whether this end has sent the request.
     * @return the keys of this end.
     */
    ConnectionKeys keys(final ConnectionMessage accept, final boolean isRequester)
    {
        final byte[] answer = accept.bytes();
        final byte[] ofRequester = context(REQUESTER, answer);
        final byte[] ofAcceptor = context(ACCEPTOR, answer);
        return new ConnectionKeys(
            secret.derive(isRequester ? ofRequester : ofAcceptor),
            secret.derive(isRequester ? ofAcceptor : ofRequester));
    }

    private byte[] context(final String direction, final byte[] answer)
    {
        final ByteArrayOutputStream context = new ByteArrayOutputStream();
        context.writeBytes(direction.getBytes(StandardCharsets.US_ASCII));
        // Its length, so that no two pairs of request and answer are the same bytes.
        context.write(before.length >>> Byte.SIZE);
        context.write(before.length);
        context.writeBytes(before);
        context.writeBytes(answer);
        return context.toByteArray();
    }
}
