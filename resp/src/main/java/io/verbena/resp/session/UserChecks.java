package io.verbena.resp.session;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserSecret;
import io.verbena.raas.identity.PeerIdentity;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Checks secrets of users one after the other on a thread that ends when there are none: a slow hash must delay no
 * command of others, and many who guess have one processor at most. A user that there is not takes as long as one that
 * there is. Thread-safe.
 */
final class UserChecks
{
    /** Checks that may wait. */
    static final int MAX_WAITING = 128;
    private static final int IDLE_S = 10;

    private final byte[] key = SecretVerifier.randomKey();
    private final ThreadPoolExecutor executor = new ThreadPoolExecutor(0, 1, IDLE_S, TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(MAX_WAITING),
        (check) -> Thread.ofPlatform().name("verbena-resp-users").daemon().unstarted(check));

    /** @return false when too many wait. */
    boolean check(
        final AccessRules rules, final String name, final String secret, final Consumer<PeerIdentity> taker)
    {
        final User user = rules.user(name);
        final SecretVerifier verifier = null == user ? SecretVerifier.ofNobody(key, name) : user.verifier();
        try
        {
            executor.execute(() ->
            {
                final boolean isRight = secret.length() >= UserSecret.MIN_BYTES &&
                    secret.length() <= UserSecret.MAX_BYTES && verifier.matches(secret);
                give(taker, isRight && null != user ? user.identity() : null);
            });
            return true;
        }
        catch (final RejectedExecutionException ex)
        {
            return false;
        }
    }

    private static void give(final Consumer<PeerIdentity> taker, final PeerIdentity identity)
    {
        try
        {
            taker.accept(identity);
        }
        catch (final RejectedExecutionException ex)
        {
            // The port was closed, and its connections with it.
        }
    }
}
