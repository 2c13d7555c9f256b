package io.verbena.memory.checkpoint;

import io.verbena.test.Mutation;
import java.util.Properties;

/** What methods of checkpoints do under mutations. */
public final class CheckpointSteps
{
    private CheckpointSteps()
    {
    }

    public static boolean finishFirst(final CheckpointWriter writer, final Properties state)
    {
        Mutation.field(writer, "store", CheckpointStore.class).finish(state);
        return false;
    }
}
