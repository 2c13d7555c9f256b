package io.verbena.rdma.conformance;

import java.lang.reflect.Method;

/**
 * A fault in a provider: stands between the suite and the objects of a sound one. This one changes nothing; each fault
 * overrides what it spoils.
 */
class Mutant
{
    /** A call that the provider would get. */
    @FunctionalInterface
    interface Call
    {
        /** Makes the call, with arguments that may have been changed. */
        Object proceed(Object... arguments) throws Throwable;
    }

    /** Makes a call of a verbs object, or does something else. */
    Object invoke(final Object target, final Method method, final Object[] arguments, final Call call) throws Throwable
    {
        return call.proceed(arguments);
    }
}
