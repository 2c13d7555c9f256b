package io.verbena.meta.membership;

/** What compute nodes of a {@link ClusterModel} do wrong when they are to leave a lost memory node. */
enum Disobedience
{
    NONE,
    /** They say that they have left, and go on. */
    STAY,
    /** They leave, and connect to the same incarnation again. */
    CONNECT_AGAIN
}
