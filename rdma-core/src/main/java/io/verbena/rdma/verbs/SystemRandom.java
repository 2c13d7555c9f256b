package io.verbena.rdma.verbs;

import java.security.SecureRandom;

/** Random numbers of the operating system; made when the first is asked for, which takes some milliseconds. */
final class SystemRandom
{
    static final SecureRandom INSTANCE = new SecureRandom();

    private SystemRandom()
    {
    }
}
