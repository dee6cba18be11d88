# Makes reference.json beside it: python3 make.py > reference.json, with numpy and scipy of the versions it names.
import numpy as np, scipy, scipy.stats as st, json
rng=np.random.default_rng(7)
out={}
a=[round(x,3) for x in rng.normal(10,1,8)]; b=[round(x,3) for x in rng.normal(11,1,7)]
c=[round(x) for x in rng.normal(10,2,30)]; d=[round(x) for x in rng.normal(11,2,25)]
c=[int(x) for x in c]; d=[int(x) for x in d]
out['a'],out['b'],out['c'],out['d']=a,b,c,d
out['p_exact']=st.mannwhitneyu(a,b,method='exact').pvalue
out['p_ties']=st.mannwhitneyu(c,d,method='asymptotic').pvalue
out['percentiles']={str(p):float(np.percentile(a,p)) for p in (0,2.5,50,90,95,99,100)}
out['std']=float(np.std(a,ddof=1))
x=[48,96,192,384]; y=[14.1,24.3,46.2,91.7]
r=st.linregress(x,y); out['x'],out['y']=x,y; out['slope'],out['intercept'],out['r2']=r.slope,r.intercept,r.rvalue**2
out['shift']=float(np.median([q-p for p in a for q in b]))
out['versions']={'numpy':np.__version__,'scipy':scipy.__version__}
print(json.dumps(out,indent=1))
