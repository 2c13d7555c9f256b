package io.verbena.client.routing;

import io.verbena.client.KvInvalidRequestException;

import org.agrona.concurrent.UnsafeBuffer;

/** Whether this JVM was started with the flags without which nothing works: a message, before anything fails. */
public final class JvmFlags
{
    /** What {@code config/jvm.args} holds, as one would type it. */
    private static final String FLAGS = "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED " +
        "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -XX:-UsePerfData";
    private static final String NEEDED_PACKAGE = "jdk.internal.misc";

    private JvmFlags()
    {
    }

    /**
     * Looks for the flag that nothing can do without; the others spare warnings, as of JDK 25.
     *
     * @return the message for the user who started this JVM, in one line, or null when all is well.
     */
    public static String missing()
    {
        // Named, not initialized: that is what fails without the flag.
        return Object.class.getModule().isExported(NEEDED_PACKAGE, UnsafeBuffer.class.getModule()) ? null :
            "this JVM does not export " + NEEDED_PACKAGE + ", by which off-heap memory is reached: start it as " +
            "'java @config/jvm.args ...', which is: " + FLAGS;
    }

    static void require()
    {
        final String missing = missing();
        if (null != missing)
        {
            throw new KvInvalidRequestException(missing);
        }
    }
}
