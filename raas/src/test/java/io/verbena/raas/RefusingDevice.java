package io.verbena.raas;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;

/** A device whose queue pairs refuse doorbells when asked to, as one whose driver has no memory does. One thread. */
final class RefusingDevice
{
    private static final List<Class<?>> WRAPPED = List.of(
        ProtectionDomain.class, QueuePair.class, ConnectionListener.class, ConnectionRequest.class);

    private int refusals;
    private int refused;

    /** @return the device, with queue pairs that can refuse. */
    Device around(final Device device)
    {
        return wrapped(Device.class, device);
    }

    /** The next so many doorbells are refused. */
    void refuse(final int doorbells)
    {
        refusals = doorbells;
    }

    /** @return doorbells that were refused. */
    int refused()
    {
        return refused;
    }

    private <T> T wrapped(final Class<T> type, final Object target)
    {
        return type.cast(Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[]{type}, new Around(target)));
    }

    private final class Around implements InvocationHandler
    {
        private final Object target;

        Around(final Object target)
        {
            this.target = target;
        }

        @Override
        public Object invoke(final Object proxy, final Method method, final Object[] arguments) throws Throwable
        {
            if (refusals > 0 && target instanceof final QueuePair queuePair && "complete".equals(method.getName()))
            {
                refusals--;
                refused++;
                queuePair.abort();
                return PostStatus.QUEUE_FULL;
            }
            try
            {
                return around(method.invoke(target, ownOf(arguments)));
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        }

        private static Object[] ownOf(final Object[] arguments)
        {
            final Object[] own = null == arguments ? new Object[0] : arguments.clone();
            for (int i = 0; i < own.length; i++)
            {
                if (null != own[i] && Proxy.isProxyClass(own[i].getClass()) &&
                    Proxy.getInvocationHandler(own[i]) instanceof final Around around)
                {
                    own[i] = around.target;
                }
            }
            return own;
        }

        private Object around(final Object result)
        {
            for (final Class<?> type : WRAPPED)
            {
                if (type.isInstance(result))
                {
                    return wrapped(type, result);
                }
            }
            return result;
        }
    }
}
