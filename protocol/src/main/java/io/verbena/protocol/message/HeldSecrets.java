package io.verbena.protocol.message;

/**
 * Which secrets a node has, as it says with each heartbeat: it gets what it has not.
 *
 * @param round       of the latest secret of its registration; 0: it does not say.
 * @param tokensRound of its tokens for memory nodes; 0: it has none.
 * @param newestToken highest incarnation of a memory node of which it has a token of that round; 0: of none.
 */
public record HeldSecrets(int round, int tokensRound, int newestToken)
{
    /** Of a node that does not say. */
    public static final HeldSecrets NONE = new HeldSecrets(0, 0, 0);
}
