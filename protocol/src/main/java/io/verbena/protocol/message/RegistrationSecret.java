package io.verbena.protocol.message;

import io.verbena.raas.identity.IdentitySecret;

/**
 * What proves one registration in one round. The meta server begins a round now and then; the secret of the one before
 * is taken as well, and none that is older.
 *
 * @param round  1 or more.
 * @param latest of this round.
 * @param before of the round before; null in the first one.
 */
public record RegistrationSecret(int round, IdentitySecret latest, IdentitySecret before)
{
    /** The first round: nothing is before it. */
    public static final int FIRST_ROUND = 1;
}
