package io.verbena.resp;

import org.junit.jupiter.api.Timeout;

/** All that {@link RespSharedKeysTest} tests, where one thread serves the connections and the node. */
@Timeout(90)
class RespDrivenSharedKeysTest extends RespSharedKeysTest
{
    @Override
    boolean isDriven()
    {
        return true;
    }
}
