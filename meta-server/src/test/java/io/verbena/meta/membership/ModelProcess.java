package io.verbena.meta.membership;

import java.util.Random;

/** A process that may stand still for a while, at any moment. */
class ModelProcess
{
    private static final int PAUSES_ONE_IN = 60;

    boolean paused;
    private int pauseLength;

    void pauseOrGoOn(final Random random)
    {
        if (paused)
        {
            paused = 0 != random.nextInt(pauseLength);
        }
        else if (0 == random.nextInt(PAUSES_ONE_IN))
        {
            paused = true;
            pauseLength = random.nextBoolean() ? 3 : longPauseLength(random);
            onPause();
        }
    }

    int longPauseLength(final Random random)
    {
        return 30;
    }

    void onPause()
    {
        // nothing is left behind by default
    }
}
