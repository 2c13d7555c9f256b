package io.verbena.resp;

import org.junit.jupiter.api.Timeout;

/** All that {@link RespServerTest} tests, where one thread serves the connections and the node. */
@Timeout(90)
class RespDrivenServerTest extends RespServerTest
{
    @Override
    boolean isDriven()
    {
        return true;
    }
}
